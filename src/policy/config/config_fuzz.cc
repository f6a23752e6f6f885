// Any bytes: no crash; what is refused says why and where, and what is taken reads back from what
// `config show` prints of it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "base/limits.h"
#include "policy/config/load_api_keys.h"
#include "policy/config/load_config.h"
#include "policy/config/show_config.h"

namespace brim {
namespace {

void CheckIssue(const ConfigIssue& issue, const std::string& text) {
  BRIM_ASSERT(!issue.message.empty());
  BRIM_ASSERT(issue.place.line >= 0 && issue.place.column >= 0);
  const std::string shown = FormatIssue(issue, text);
  for (const char c : shown) BRIM_ASSERT(c == '\n' || static_cast<unsigned char>(c) >= ' ');
}

void FuzzKeys(const std::string& text) {
  const LoadedApiKeys keys = LoadApiKeys(text, "keys.yaml", nullptr);
  BRIM_ASSERT((keys.table == nullptr) == !keys.issues.empty());
  for (const ConfigIssue& issue : keys.issues) CheckIssue(issue, "");
}

void Fuzz(std::string text) {
  FuzzKeys(text);
  const LoadedConfig loaded = LoadConfig(std::move(text), "fuzz.yaml");
  BRIM_ASSERT(loaded.issues.size() <= limits::kMaxConfigIssues);
  BRIM_ASSERT(loaded.ok() || !loaded.issues.empty());
  for (const ConfigIssue& issue : loaded.issues) CheckIssue(issue, loaded.text);
  BRIM_ASSERT(!IssuesAsJson(loaded.issues).empty());
  if (!loaded.ok()) return;
  const std::string shown = ShowConfig(*loaded.policy);
  const LoadedConfig back = LoadConfig(shown, "shown.yaml");
  BRIM_ASSERT(back.ok());
  BRIM_ASSERT(ShowConfig(*back.policy) == shown);
}

}  // namespace
}  // namespace brim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  brim::Fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

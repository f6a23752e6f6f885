// Any text is a store URL or an error that names the field.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "store/store_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = brim::ParseStoreUrl({reinterpret_cast<const char*>(data), size});
  if (!parsed) {
    BRIM_ASSERT(parsed.error().field == "store");
    return 0;
  }
  const auto* options = std::get_if<brim::redis::ClientOptions>(&*parsed);
  if (options == nullptr) return 0;
  BRIM_ASSERT(!options->endpoint.host.empty() || !options->endpoint.unix_path.empty());
  BRIM_ASSERT(!options->sentinel || !options->sentinel->endpoints.empty());
  return 0;
}

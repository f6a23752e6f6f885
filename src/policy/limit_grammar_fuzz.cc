// Any bytes: no crash; what parses, reads back from its formatted text; what does not, says why in
// printable ASCII.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <brim/limit.h>
#include "base/assert.h"

namespace brim {
namespace {

bool Same(const Limit& a, const Limit& b) {
  return a.units() == b.units() && a.window() == b.window() && a.algorithm() == b.algorithm() &&
         a.anchor() == b.anchor() && a.count() == b.count() && a.mode() == b.mode() &&
         a.key() == b.key() && a.burst() == b.burst() && a.weighted() == b.weighted();
}

void CheckRoundTrip(const Limit& limit) {
  const Result<Limit> back = ParseLimit(FormatLimit(limit));
  BRIM_ASSERT(back.ok());
  BRIM_ASSERT(Same(*back, limit));
}

void CheckError(const Error& error) {
  BRIM_ASSERT(error.code == ErrorCode::kInvalid);
  BRIM_ASSERT(error.field == "limit");
  BRIM_ASSERT(!error.message.empty() && error.message.size() < 512);
  for (const char c : error.message) BRIM_ASSERT(c >= ' ' && c <= '~');
}

void Fuzz(std::string_view text, Algorithm algorithm) {
  const Result<Limit> one = ParseLimit(text, algorithm);
  const Result<std::vector<Limit>> all = ParseLimits(text, algorithm);
  if (one.ok()) {
    CheckRoundTrip(*one);
    BRIM_ASSERT(all.ok() && all->size() == 1 && Same(all->front(), *one));
  } else {
    CheckError(one.error());
  }
  if (!all.ok()) return CheckError(all.error());
  BRIM_ASSERT(!all->empty() && all->size() <= kMaxLines);
  for (std::size_t i = 0; i < all->size(); ++i) {
    CheckRoundTrip((*all)[i]);
    BRIM_ASSERT(i == 0 || (*all)[i - 1].window() <= (*all)[i].window());
  }
}

}  // namespace
}  // namespace brim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using enum brim::Algorithm;
  for (const auto algorithm : {kSlidingWindow, kFixedWindow, kTokenBucket, kSlidingWindowCounter}) {
    brim::Fuzz(text, algorithm);
  }
  return 0;
}

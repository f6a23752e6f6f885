// The whole input at once and the same input in pieces give the same replies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "redis/resp_print.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece_bytes = 1 + data[0] % 16;
  const std::string stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < stream.size(); at += piece_bytes) {
    pieces.push_back(stream.substr(at, piece_bytes));
  }
  const auto whole = brim::redis::DecodeForTest({stream});
  const auto split = brim::redis::DecodeForTest(pieces);
  BRIM_ASSERT(whole.replies == split.replies);
  BRIM_ASSERT(whole.error.empty() == split.error.empty());
  return 0;
}

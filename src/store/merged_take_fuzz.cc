// Whatever a server answers to merged takes is an error, or as many answers as there are takes,
// each of which is in itself consistent.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "redis/resp.h"
#include "store/merged_take.h"

namespace {

brim::CheckLines LinesOf(const char* last_limit) {
  brim::CheckLines lines;
  for (const char* limit : {"5 per minute", "0 per hour", last_limit}) {
    brim::Key key;
    key.Append(limit);
    lines.Add(key, brim::ParseLimit(limit).value(), 1);
  }
  return lines;
}

void CheckAnswers(const brim::redis::Reply& reply, const brim::MergeableTake& take,
                  std::size_t takes) {
  const auto together = brim::DecodeTakes(reply, take, takes);
  if (!together) return;
  BRIM_ASSERT(together->admitted <= takes);
  for (std::size_t i = 0; i < takes; ++i) {
    const brim::Taken taken = together->Of(i, take);
    BRIM_ASSERT(taken.admitted == (i < together->admitted));
    BRIM_ASSERT(taken.lines.size() == take.parts().size());
    BRIM_ASSERT(taken.admitted == (taken.refused_line < 0));
    BRIM_ASSERT(taken.refused_line < static_cast<int>(taken.lines.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const brim::MergeableTake kLogs(LinesOf("100 per day"), {"a", "b"}, "12345");
  static const brim::MergeableTake kMixed(LinesOf("100 per day token_bucket"), {"a", "b"}, "12345");
  brim::redis::Decoder decoder;
  for (std::size_t at = 1; at < size;) {
    const auto space = decoder.Prepare();
    const std::size_t bytes = std::min(space.size(), size - at);
    std::memcpy(space.data(), data + at, bytes);
    decoder.Commit(bytes);
    at += bytes;
    while (decoder.Next() == brim::redis::Decoder::Status::kReply) {
      CheckAnswers(decoder.reply(), kLogs, 1 + data[0] % 8);
      CheckAnswers(decoder.reply(), kMixed, 1 + data[0] % 8);
    }
  }
  return 0;
}

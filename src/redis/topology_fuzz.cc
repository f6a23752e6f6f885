// What servers and sentinels say of each other: any bytes are read, or refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "redis/cluster.h"
#include "redis/sentinel.h"
#include "redis/slot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace brim::redis;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto direction = ParseDirection(text)) {
    BRIM_ASSERT(direction->slot < kSlots && direction->to.port != 0);
  }
  if (const auto primary = ParseSwitch(text, "m")) BRIM_ASSERT(!primary->host.empty());
  Decoder decoder;
  const auto space = decoder.Prepare();
  decoder.Commit(text.copy(space.data(), std::min(space.size(), text.size())));
  while (decoder.Next() == Decoder::Status::kReply) {
    const auto ranges = ParseSlots(decoder.reply());
    if (!ranges) continue;
    for (const SlotRange& range : *ranges) {
      BRIM_ASSERT(range.first <= range.last && range.last < kSlots && range.primary.port != 0);
    }
  }
  return 0;
}

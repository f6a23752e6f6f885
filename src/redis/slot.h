// The hash slots of Redis Cluster.
#pragma once

#include <cstdint>
#include <string_view>

namespace brim::redis {

inline constexpr int kSlots = 16'384;

// CRC16 of the key, or of what stands between its first '{' and the next '}' if that is not empty.
std::uint16_t SlotOf(std::string_view key);

// The slot of the first key of an encoded EVALSHA with keys, or of a command whose first argument
// is its key. REQUIRES: made by Command.
std::uint16_t SlotOfCommand(std::string_view command);

}  // namespace brim::redis

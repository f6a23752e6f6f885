#include "redis/slot.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace brim::redis {
namespace {

// CRC-16/XMODEM: polynomial x^16 + x^12 + x^5 + 1, from zero, not reflected.
constexpr std::array<std::uint16_t, 256> MakeTable() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
constexpr std::array<std::uint16_t, 256> kTable = MakeTable();

std::uint16_t Crc16(std::string_view text) {
  std::uint16_t crc = 0;
  for (const char c : text) {
    crc = static_cast<std::uint16_t>(crc << 8 ^
                                     kTable[(crc >> 8 ^ static_cast<unsigned char>(c)) & 0xFF]);
  }
  return crc;
}

// Takes "$5\r\nhello\r\n" off the front.
std::string_view TakeArg(std::string_view& rest) {
  std::size_t size = 0;
  std::from_chars(rest.data() + 1, rest.data() + rest.size(), size);
  const std::size_t begin = rest.find('\n') + 1;
  const std::string_view arg = rest.substr(begin, size);
  rest.remove_prefix(begin + size + 2);
  return arg;
}

}  // namespace

std::uint16_t SlotOf(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != key.npos) {
    const std::size_t close = key.find('}', open);
    if (close != key.npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return Crc16(key) % kSlots;
}

std::uint16_t SlotOfCommand(std::string_view command) {
  command.remove_prefix(command.find('\n') + 1);  // the number of arguments
  if (TakeArg(command) == "EVALSHA") {
    TakeArg(command);  // the script
    TakeArg(command);  // the number of keys
  }
  return SlotOf(TakeArg(command));
}

}  // namespace brim::redis

// Numbers and bytes as text, the way every protocol here writes them: ASCII, no locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace brim {

// The decimal digits of a number, on the stack. A plain value.
class Decimal {
 public:
  explicit Decimal(std::int64_t number)
      : size_(static_cast<std::size_t>(
            std::to_chars(digits_, digits_ + sizeof(digits_), number).ptr - digits_)) {}
  std::string_view view() const { return {digits_, size_}; }

 private:
  char digits_[20];  // as many as the smallest int64 has, with its sign
  std::size_t size_;
};

// Decimal digits, the whole text of them, from 0 to `most`; else nullopt.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text, Number most) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > most) {
    return std::nullopt;
  }
  return number;
}

// Appends the byte as two lower-case hex digits.
inline void AppendHex(unsigned char byte, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 0xF];
}

// 0 ... 15, or -1 if it is no hex digit.
constexpr int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Appends `text` with each %XX as the byte that it stands for; `plus` stands for '+' (in a query
// string it is a space). False if a '%' is not followed by two hex digits: then `out` may hold a
// part.
bool AppendPercentDecoded(std::string_view text, std::string& out, char plus = '+');

// The length of the valid UTF-8 sequence of more than one byte at the front of `text`; 0 if it is
// none (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t Utf8Length(std::string_view text);

}  // namespace brim

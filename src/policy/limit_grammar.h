// The words of limits as text. ParseLimit and ParseLimits (<brim/limit.h>) stand on them.
//
//   limits    = limit { ";" limit } [ ";" ]
//   limit     = units ( "/" | "per" ) [ count ] unit { option }
//   option    = algorithm | "burst" units | "aligned" | "weighted" | "shadow"
//               in any order, each setting at most once; a burst alone means token_bucket
//
// Case does not matter, and spaces are needed only between two words. No other white space: a tab
// or a line break in a limit is far more often a mistake than meant.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <brim/clock.h>

namespace brim {

// A unit of time, under all its names.
struct WindowUnit {
  Micros length;
  std::string_view name;    // "per minute"
  std::string_view plural;  // "per 15 minutes"
  std::string_view brief;   // "per 15m"; also in window names
  std::string_view middle;  // "per min"
};

// Longest first: the first that divides a window is the one to name it by.
inline constexpr WindowUnit kWindowUnits[] = {
    {std::chrono::hours(7 * 24), "week", "weeks", "w", "w"},
    {std::chrono::hours(24), "day", "days", "d", "d"},
    {std::chrono::hours(1), "hour", "hours", "h", "h"},
    {std::chrono::minutes(1), "minute", "minutes", "m", "min"},
    {std::chrono::seconds(1), "second", "seconds", "s", "sec"},
    {std::chrono::milliseconds(1), "ms", "ms", "ms", "ms"},
};

struct Token {
  enum class Kind : std::uint8_t {
    kNumber,  // digits
    kWord,    // letters and '_'
    kSymbol,  // any other printable byte: the grammar knows '/' and ';'
    kBad,     // a control or non-ASCII byte
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  std::size_t position = 0;  // of its first byte in the whole text; the first is 1
  std::int64_t value = 0;    // of a number; too large ones stay at the largest int64

  // Whether it is this word (lower-case) or symbol. Case does not matter.
  bool Is(std::string_view word) const;
};

// "'per'", "'\x0a'", "the end": the token as messages show it. Printable ASCII, and short.
std::string Describe(const Token& token);

// Cuts a text into tokens, one ahead. Never fails: what no rule knows is a kSymbol or a kBad token,
// which the parser refuses at its place. Borrows the text. Thread-compatible.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) { Advance(); }
  const Token& Peek() const { return token_; }
  Token Take() {
    const Token token = token_;
    Advance();
    return token;
  }

 private:
  void Advance();

  const std::string_view text_;
  std::size_t at_ = 0;  // behind token_
  Token token_;
};

}  // namespace brim

// Any names and numbers: a parser that was written from RFC 9651, and knows nothing of the writer,
// reads back what was written.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include "base/assert.h"
#include "base/structured_field.h"

namespace {

struct Member {
  std::string text;
  std::vector<std::pair<std::string, std::int64_t>> parameters;
  bool operator==(const Member&) const = default;
};

// Section 4.2, as far as lists of strings with integer parameters go.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<std::vector<Member>> ParseList() {
    std::vector<Member> members;
    while (!text_.empty()) {
      auto member = ParseMember();
      if (!member) return std::nullopt;
      members.push_back(*std::move(member));
      SkipBlanks();
      if (text_.empty()) return members;
      if (!Consume(',')) return std::nullopt;
      SkipBlanks();
      if (text_.empty()) return std::nullopt;  // a trailing comma
    }
    return members;
  }

 private:
  std::optional<Member> ParseMember() {
    Member member;
    if (!ParseString(member.text)) return std::nullopt;
    while (Consume(';')) {
      while (Consume(' ')) continue;
      std::string key;
      while (!text_.empty() && text_[0] >= 'a' && text_[0] <= 'z') key += Take();
      std::int64_t value = 0;
      if (key.empty() || !Consume('=') || !ParseInteger(value)) return std::nullopt;
      member.parameters.emplace_back(key, value);
    }
    return member;
  }

  bool ParseString(std::string& out) {
    if (!Consume('"')) return false;
    while (!text_.empty()) {
      const char c = Take();
      if (c == '"') return true;
      if (c < 0x20 || c > 0x7e) return false;
      if (c != '\\') {
        out += c;
        continue;
      }
      if (text_.empty() || (text_[0] != '"' && text_[0] != '\\')) return false;
      out += Take();
    }
    return false;
  }

  bool ParseInteger(std::int64_t& value) {
    const bool is_negative = Consume('-');
    int digits = 0;
    while (!text_.empty() && text_[0] >= '0' && text_[0] <= '9') {
      if (++digits > 15) return false;
      value = value * 10 + (Take() - '0');
    }
    if (is_negative) value = -value;
    return digits > 0;
  }

  char Take() {
    const char c = text_[0];
    text_.remove_prefix(1);
    return c;
  }
  bool Consume(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void SkipBlanks() {
    while (Consume(' ') || Consume('\t')) continue;
  }

  std::string_view text_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  std::string field;
  brim::StructuredList list(field);
  std::vector<Member> members;
  while (data.remaining_bytes() != 0) {
    const std::string text = data.ConsumeRandomLengthString(40);
    Member& member = members.emplace_back();
    for (const char c : text) member.text += c >= 0x20 && c <= 0x7e ? c : '?';
    list.Item(text);
    for (const char* name : {"q", "w"}) {
      if (!data.ConsumeBool()) continue;
      constexpr std::int64_t kMost = 999'999'999'999'999;
      const auto value = data.ConsumeIntegralInRange<std::int64_t>(-kMost, kMost);
      list.Parameter(name, value);
      member.parameters.emplace_back(name, value);
    }
  }
  const auto read = Parser(field).ParseList();
  BRIM_ASSERT(read.has_value());
  BRIM_ASSERT(*read == members);
  return 0;
}

// Writes a list of structured fields (RFC 9651): strings with whole numbers as parameters.
//
//   StructuredList list(out);
//   list.Item("minute").Parameter("q", 5).Parameter("w", 60);
//   list.Item("day").Parameter("q", 100);  // "minute";q=5;w=60, "day";q=100
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace brim {

// Appends to the string it borrows. Thread-compatible.
class StructuredList {
 public:
  explicit StructuredList(std::string& out) : out_(out) {}

  // Of the characters that a string can hold; '?' stands for any other (RFC 9651 knows no escape
  // for them).
  StructuredList& Item(std::string_view text) {
    out_ += is_first_ ? "\"" : ", \"";
    is_first_ = false;
    for (const char c : text) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c >= ' ' && c <= '~' ? c : '?';
    }
    out_ += '"';
    return *this;
  }

  // REQUIRES: `name` is a key: lower-case letters; `value` has at most 15 digits.
  StructuredList& Parameter(std::string_view name, std::int64_t value) {
    out_ += ';';
    out_ += name;
    out_ += '=';
    out_ += Decimal(value).view();
    return *this;
  }

 private:
  std::string& out_;
  bool is_first_ = true;
};

}  // namespace brim

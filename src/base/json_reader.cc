#include "base/json_reader.h"

#include <array>
#include <cstdint>

#include "base/limits.h"
#include "base/text.h"

namespace brim {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Of bytes that a string may hold as they are: not '"', '\\', control or non-ASCII bytes.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x80; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

void AppendUtf8(std::uint32_t code, std::string& out) {
  const auto byte = [&out](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

}  // namespace

void JsonReader::Begin(std::string_view text) {
  text_ = text;
  pos_ = 0;
  first_ = false;
  mistake_ = {};
  unescaped_.clear();
}

JsonReader::Type JsonReader::Peek() {
  SkipSpace();
  switch (At()) {
    case '{':
      return Type::kObject;
    case '[':
      return Type::kArray;
    case '"':
      return Type::kString;
    case 't':
    case 'f':
      return Type::kBool;
    case 'n':
      return Type::kNull;
    default:
      return At() == '-' || IsDigit(At()) ? Type::kNumber : Type::kNone;
  }
}

bool JsonReader::String(std::string_view& value) {
  return ok() && Peek() == Type::kString && ReadString(value);
}

bool JsonReader::Number(std::string_view& digits) {
  if (!ok() || Peek() != Type::kNumber) return false;
  const std::size_t begin = pos_;
  if (At() == '-') ++pos_;
  if (At() == '0' && IsDigit(At(1))) return Fail("a number has no leading zero");
  if (!SkipDigits()) return false;
  if (At() == '.') {
    ++pos_;
    if (!SkipDigits()) return false;
  }
  if (At() == 'e' || At() == 'E') {
    pos_ += At(1) == '+' || At(1) == '-' ? 2 : 1;
    if (!SkipDigits()) return false;
  }
  digits = text_.substr(begin, pos_ - begin);
  return true;
}

bool JsonReader::Bool(bool& value) {
  if (!ok() || Peek() != Type::kBool) return false;
  value = At() == 't';
  return Literal(value ? "true" : "false");
}

bool JsonReader::Skip() { return ok() && SkipAtDepth(0); }

bool JsonReader::NextMember(std::string_view& name) {
  if (!Next('}')) return false;
  if (Peek() != Type::kString) return Fail("a member's name in quotes is expected");
  if (!ReadString(name)) return false;
  SkipSpace();
  if (At() != ':') return Fail("':' is expected behind a name");
  ++pos_;
  return true;
}

bool JsonReader::End() {
  SkipSpace();
  if (ok() && pos_ != text_.size()) return Fail("nothing may follow the value");
  return ok();
}

Error JsonReader::error() const {
  std::string message("it is no valid JSON: ");
  message.append(mistake_).append(", at byte ").append(std::to_string(pos_ + 1));
  return {ErrorCode::kInvalid, message, ""};
}

bool JsonReader::Open(char bracket) {
  if (!ok()) return false;
  SkipSpace();
  if (At() != bracket) return false;
  ++pos_;
  first_ = true;
  return true;
}

bool JsonReader::Next(char close) {
  if (!ok()) return false;
  SkipSpace();
  const bool was_first = first_;
  first_ = false;
  if (At() == close) {
    ++pos_;
    return false;
  }
  if (was_first) return true;
  if (At() != ',') return Fail("',' or the closing bracket is expected");
  ++pos_;
  return true;
}

bool JsonReader::Literal(std::string_view word) {
  if (!text_.substr(pos_).starts_with(word)) return Fail("true, false or null is misspelt");
  pos_ += word.size();
  return true;
}

bool JsonReader::ReadString(std::string_view& value) {
  const std::size_t begin = ++pos_;
  while (true) {  // stops: each turn takes a byte, or leaves
    while (kPlain[static_cast<unsigned char>(At())]) ++pos_;
    if (At() == '"') {
      value = text_.substr(begin, pos_++ - begin);
      return true;
    }
    if (At() == '\\') return ReadEscaped(begin, value);
    const std::size_t length = Utf8Length(text_.substr(pos_));
    if (length == 0) return Fail("a string ends too early, or has bytes that are not UTF-8");
    pos_ += length;
  }
}

// The rest of a string that has an escape at pos_; its plain beginning is at `begin`.
bool JsonReader::ReadEscaped(std::size_t begin, std::string_view& value) {
  if (unescaped_.empty()) unescaped_.reserve(text_.size());
  const std::size_t start = unescaped_.size();
  unescaped_.append(text_, begin, pos_ - begin);
  while (At() != '"') {  // stops: each turn takes a byte, or leaves
    if (At() == '\\') {
      if (!ReadEscape()) return false;
      continue;
    }
    const std::size_t length =
        kPlain[static_cast<unsigned char>(At())] ? 1 : Utf8Length(text_.substr(pos_));
    if (length == 0) return Fail("a string ends too early, or has bytes that are not UTF-8");
    unescaped_.append(text_, pos_, length);
    pos_ += length;
  }
  ++pos_;
  value = std::string_view(unescaped_).substr(start);
  return true;
}

bool JsonReader::ReadEscape() {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (At(1) == 'u') return ReadCodePoint();
  const std::size_t which = kLetters.find(At(1));
  if (which == std::string_view::npos) return Fail("there is no such escape");
  unescaped_ += kMeanings[which];
  pos_ += 2;
  return true;
}

bool JsonReader::ReadCodePoint() {
  int code = ReadHex4();
  if (code >= 0xD800 && code < 0xDC00) {
    const int low = At() == '\\' && At(1) == 'u' ? ReadHex4() : -1;
    code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00) : -1;
  } else if (code >= 0xDC00 && code < 0xE000) {
    code = -1;
  }
  if (code < 0) return Fail("\\u takes four hex digits, and surrogates come in pairs");
  AppendUtf8(static_cast<std::uint32_t>(code), unescaped_);
  return true;
}

// Of the six bytes at pos_, which begin with \u; -1 if they are no hex digits.
int JsonReader::ReadHex4() {
  int code = 0;
  for (std::size_t i = 2; i < 6; ++i) {
    const int digit = HexValue(At(i));
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  pos_ += 6;
  return code;
}

bool JsonReader::SkipAtDepth(std::size_t depth) {
  if (depth == limits::kMaxJsonDepth) return Fail("it is nested too deeply");
  std::string_view ignored;
  switch (Peek()) {
    case Type::kObject:
      for (BeginObject(); NextMember(ignored);) {
        if (!SkipAtDepth(depth + 1)) return false;
      }
      return ok();
    case Type::kArray:
      for (BeginArray(); NextElement();) {
        if (!SkipAtDepth(depth + 1)) return false;
      }
      return ok();
    case Type::kString:
      return ReadString(ignored);
    case Type::kNumber:
      return Number(ignored);
    case Type::kBool:
      return Literal(At() == 't' ? "true" : "false");
    case Type::kNull:
      return Literal("null");
    case Type::kNone:
      break;
  }
  return Fail("a value is expected");
}

bool JsonReader::SkipDigits() {
  if (!IsDigit(At())) return Fail("a digit is expected in a number");
  while (IsDigit(At())) ++pos_;
  return true;
}

bool JsonReader::Fail(std::string_view mistake) {
  if (ok()) mistake_ = mistake;
  return false;
}

void JsonReader::SkipSpace() {
  while (At() == ' ' || At() == '\n' || At() == '\r' || At() == '\t') ++pos_;
}

}  // namespace brim

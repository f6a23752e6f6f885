// Reads JSON (RFC 8259) by pulling: the caller asks for what its format expects, and no tree is
// built. Strict: all of the text is checked, also what is skipped; strings must be valid UTF-8.
//
//   JsonReader json;
//   json.Begin(R"({"subject": "a", "cost": 1})");
//   std::string_view name;
//   for (json.BeginObject(); json.NextMember(name);) {
//     if (json.Peek() != JsonReader::Type::kString) json.Skip(); else json.String(subject);
//   }
//   const bool good = json.End();
//
// The first mistake in the text ends it: from then on every call answers false, and error() tells.
// Names and strings are views of the text, or of the reader if they have escapes; they live until
// the next Begin. Duplicate names are the caller's to see.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <brim/result.h>

namespace brim {

// Thread-compatible. One can read many texts, one after the other, and then allocates nothing.
class JsonReader {
 public:
  enum class Type { kObject, kArray, kString, kNumber, kBool, kNull, kNone };

  // `text` must live until the last call for it.
  void Begin(std::string_view text);

  // Of the value that comes next; kNone: there is none.
  Type Peek();

  // The value that comes next. False: it is of another type, which is no mistake in the text (take
  // it as what it is, or skip it), or the text is broken.
  bool BeginObject() { return Open('{'); }
  bool BeginArray() { return Open('['); }
  bool String(std::string_view& value);
  bool Number(std::string_view& digits);  // as it stands there: -1, 2.5e3
  bool Bool(bool& value);
  bool Skip();  // any type

  // The next member's name, or that there is one more element: take its value, then ask again.
  // False: the object or array has ended.
  bool NextMember(std::string_view& name);
  bool NextElement() { return Next(']'); }

  // Whether the text was one value and nothing else.
  bool End();

  bool ok() const { return mistake_.empty(); }
  // kInvalid: what is wrong, and at which byte. REQUIRES: !ok().
  Error error() const;

 private:
  bool Open(char bracket);
  bool Next(char close);
  bool Literal(std::string_view word);
  bool ReadString(std::string_view& value);
  bool ReadEscaped(std::size_t begin, std::string_view& value);
  bool ReadEscape();
  bool ReadCodePoint();
  int ReadHex4();
  bool SkipAtDepth(std::size_t depth);
  bool SkipDigits();
  bool Fail(std::string_view mistake);

  // Of the byte `ahead`, or NUL behind the end (where no NUL of the text is taken for it: it is
  // legal nowhere).
  char At(std::size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  void SkipSpace();

  std::string_view text_;
  std::size_t pos_ = 0;
  bool first_ = false;        // no value has come since the bracket that was opened last
  std::string_view mistake_;  // empty: none so far
  std::string unescaped_;     // never outgrows what Begin reserved: views of it stay good
};

}  // namespace brim

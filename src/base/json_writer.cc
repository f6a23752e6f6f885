#include "base/json_writer.h"

#include <cstddef>

#include "base/text.h"

namespace brim {
namespace {

unsigned char At(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

void AppendEscaped(unsigned char byte, std::string& out) {
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      AppendHex(byte, out);
  }
}

bool IsPlain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

}  // namespace

void AppendJsonEscaped(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size();) {  // stops: every branch takes at least one byte
    std::size_t run = 0;
    while (i + run < text.size() && IsPlain(At(text, i + run))) ++run;
    if (run != 0) {
      out.append(text, i, run);
      i += run;
    } else if (At(text, i) < 0x80) {
      AppendEscaped(At(text, i++), out);
    } else if (const std::size_t length = Utf8Length(text.substr(i)); length != 0) {
      out.append(text, i, length);
      i += length;
    } else {
      out += "\\ufffd";
      ++i;
    }
  }
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  out_ += '"';
  out_ += name;
  out_ += "\": ";
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Separate();
  out_ += '"';
  AppendJsonEscaped(value, out_);
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Int(std::int64_t value) {
  Separate();
  out_ += Decimal(value).view();
  return *this;
}

JsonWriter& JsonWriter::Thousandths(std::int64_t thousandths) {
  Int(thousandths / 1000);
  std::int64_t rest = thousandths % 1000;
  if (rest == 0) return *this;
  out_ += '.';
  for (std::int64_t unit = 100; rest != 0; rest %= unit, unit /= 10) {
    out_ += static_cast<char>('0' + rest / unit);
  }
  return *this;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Literal(std::string_view text) {
  Separate();
  out_ += text;
  return *this;
}

void JsonWriter::Separate() {
  if (comma_) out_ += ", ";
  comma_ = true;
}

}  // namespace brim

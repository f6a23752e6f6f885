// Writes JSON by appending to a string: no tree, no allocation but the string's own growth.
//
//   std::string out;
//   JsonWriter json(out);
//   json.BeginObject();
//   json.Key("limit").Int(5);
//   json.Key("limits").BeginArray().Null().EndArray();
//   json.EndObject();  // {"limit": 5, "limits": [null]}
//
// It places commas and escapes strings; that Begin and End pair up is the caller's care.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace brim {

// Appends `text` as the inside of a JSON string. What is not valid UTF-8 becomes \ufffd, one for
// each bad byte, so that the result is always valid JSON, and pure ASCII in its escapes.
void AppendJsonEscaped(std::string_view text, std::string& out);

// Borrows the string. Thread-compatible.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }
  // REQUIRES: `name` needs no escapes; names are ours.
  JsonWriter& Key(std::string_view name);
  JsonWriter& String(std::string_view value);
  JsonWriter& Int(std::int64_t value);
  JsonWriter& Bool(bool value) { return Literal(value ? "true" : "false"); }
  JsonWriter& Null() { return Literal("null"); }
  // `thousandths` / 1000 in the shortest exact form: 60, 0.7, 1.025. REQUIRES: not negative.
  JsonWriter& Thousandths(std::int64_t thousandths);

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  JsonWriter& Literal(std::string_view text);
  void Separate();

  std::string& out_;
  bool comma_ = false;  // whether the next key or value stands behind another one
};

}  // namespace brim

// Any bytes: brim's reader takes what nlohmann's parser takes, and finds the same in it.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "base/json_reader.h"

namespace {

using nlohmann::json;
using Type = brim::JsonReader::Type;

bool g_is_huge = false;  // a number beyond a double, which the other parser refuses

json Read(brim::JsonReader& reader) {
  std::string_view text;
  switch (reader.Peek()) {
    case Type::kObject: {
      json object = json::object();
      for (reader.BeginObject(); reader.NextMember(text);) {
        const std::string name(text);
        object[name] = Read(reader);
      }
      return object;
    }
    case Type::kArray: {
      json array = json::array();
      for (reader.BeginArray(); reader.NextElement();) array.push_back(Read(reader));
      return array;
    }
    case Type::kString:
      return reader.String(text) ? json(std::string(text)) : json();
    case Type::kNumber:
      if (!reader.Number(text)) return {};
      g_is_huge |= std::isinf(std::strtod(std::string(text).c_str(), nullptr));
      return json::parse(text, nullptr, false);
    case Type::kBool:
    case Type::kNull:
    case Type::kNone:
      break;
  }
  const Type type = reader.Peek();
  if (!reader.Skip()) return {};
  return type == Type::kNull ? json() : json(type);
}

// Deeper than this, a recursion like Read's would not end well.
bool IsDeep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : 0;
    if (depth > 30) return true;
  }
  return false;
}

// What Read makes of true and false: their values are not pulled, only their type.
void Blur(json& value) {
  if (value.is_boolean()) value = json(Type::kBool);
  if (value.is_structured()) {
    for (json& part : value) Blur(part);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  brim::JsonReader skipping;
  skipping.Begin(text);
  const bool is_valid = skipping.Skip() && skipping.End();
  // The other parser takes a NUL for the end of the text, and skips a byte order mark.
  const bool differs =
      text.find('\0') != std::string_view::npos || text.starts_with("\xEF\xBB\xBF");
  if (differs || IsDeep(text)) return 0;

  g_is_huge = false;
  brim::JsonReader reader;
  reader.Begin(text);
  const json mine = Read(reader);
  BRIM_ASSERT(reader.End() == is_valid);
  if (g_is_huge) return 0;
  json theirs = json::parse(text, nullptr, false);
  BRIM_ASSERT(theirs.is_discarded() != is_valid);
  if (!is_valid) return 0;
  Blur(theirs);
  BRIM_ASSERT(mine == theirs);
  return 0;
}

// YAML text as a tree of plain values that remember where they stood. Bounded: text that nests too
// deep, or grows too large through its aliases, is refused. No other file sees yaml-cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace brim {

// From 1; a column counts bytes. 0: nowhere.
struct YamlPlace {
  int line = 0;
  int column = 0;
  bool operator==(const YamlPlace&) const = default;
};

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  bool plain = false;  // of a scalar: written without quotes, so that it may be a number or a bool
  YamlPlace place;
  std::string text;             // of a scalar
  std::vector<YamlNode> items;  // of a list; of a map: key, value, key, value, ... (keys: scalars)
};

struct YamlError {
  YamlPlace place;
  std::string message;
};

// One document; an empty text is an empty map.
std::variant<YamlNode, YamlError> ParseYaml(std::string_view text);

}  // namespace brim

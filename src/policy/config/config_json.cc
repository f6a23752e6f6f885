#include <algorithm>

#include "base/json_writer.h"
#include "policy/config/config_sections.h"

namespace brim {
namespace {

std::size_t CountDigits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

// A number as JSON writes it: -1, 0.5, 1e9; not 01, .5, 0x1F, +1.
bool IsJsonNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = CountDigits(text);
  if (whole == 0 || (whole > 1 && text.front() == '0')) return false;
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t fraction = CountDigits(text);
    if (fraction == 0) return false;
    text.remove_prefix(fraction);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    return !text.empty() && CountDigits(text) == text.size();
  }
  return text.empty();
}

void AppendString(std::string_view text, std::string& out) {
  out += '"';
  AppendJsonEscaped(text, out);
  out += '"';
}

void Append(const YamlNode& node, std::string& out) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      out += "null";
      return;
    case YamlNode::Kind::kScalar:
      if (node.plain && (node.text == "true" || node.text == "false" || IsJsonNumber(node.text))) {
        out += node.text;
      } else {
        AppendString(node.text, out);
      }
      return;
    case YamlNode::Kind::kList:
      out += '[';
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i != 0) out += ", ";
        Append(node.items[i], out);
      }
      out += ']';
      return;
    case YamlNode::Kind::kMap:
      out += '{';
      for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
        if (i != 0) out += ", ";
        AppendString(node.items[i].text, out);
        out += ": ";
        Append(node.items[i + 1], out);
      }
      out += '}';
      return;
  }
}

}  // namespace

std::string ToJson(const YamlNode& node) {
  std::string out;
  Append(node, out);
  return out;
}

}  // namespace brim

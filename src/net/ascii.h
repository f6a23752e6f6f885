// Bytes as HTTP classes them. No locale, no branches by table miss: one look-up a byte.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace brim::net {

namespace ascii_classes {
enum : unsigned char { kToken = 1, kTarget = 2, kValue = 4, kHost = 8 };

constexpr std::array<unsigned char, 256> MakeTable() {
  std::array<unsigned char, 256> table{};
  const std::string_view separators = "\"(),/:;<=>?@[\\]{}";
  for (int c = 0; c < 256; ++c) {
    const bool visible = c > 0x20 && c < 0x7f;
    const bool separator = separators.find(static_cast<char>(c)) != std::string_view::npos;
    const bool not_in_host =
        std::string_view("\"#,/<>?@\\^`{|}").find(static_cast<char>(c)) != std::string_view::npos;
    unsigned char classes = 0;
    if (visible && !separator) classes |= kToken;
    if (visible && c != '#') classes |= kTarget;
    if (c == '\t' || c == ' ' || visible || c >= 0x80) classes |= kValue;
    if (visible && !not_in_host) classes |= kHost;
    table[static_cast<std::size_t>(c)] = classes;
  }
  return table;
}
inline constexpr std::array<unsigned char, 256> kTable = MakeTable();

constexpr bool All(std::string_view text, unsigned char classes) {
  unsigned char common = classes;
  for (const char c : text) common &= kTable[static_cast<unsigned char>(c)];
  return common == classes;
}
}  // namespace ascii_classes

// A method or a header's name.
constexpr bool IsToken(std::string_view text) {
  return !text.empty() && ascii_classes::All(text, ascii_classes::kToken);
}
// What a request target may hold: visible ASCII without a fragment.
constexpr bool IsTarget(std::string_view text) {
  return ascii_classes::All(text, ascii_classes::kTarget);
}
// What a header's value may hold: no control character but the tab.
constexpr bool IsHeaderValue(std::string_view text) {
  return ascii_classes::All(text, ascii_classes::kValue);
}
// A host with or without port, roughly: no path, user info, list or white space. May be empty.
constexpr bool IsHost(std::string_view text) {
  return ascii_classes::All(text, ascii_classes::kHost);
}

constexpr char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

constexpr bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (LowerCase(a[i]) != LowerCase(b[i])) return false;
  }
  return true;
}

// Without the spaces and tabs around it.
constexpr std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace brim::net

// Reads a YAML tree as typed settings and collects everything that is wrong with it, each with its
// place, so that one run shows all errors. A reader that finds an error tells it and returns
// nothing (or false); the caller goes on with the next setting.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brim/clock.h>
#include "policy/config/config_issue.h"
#include "policy/config/yaml_tree.h"

namespace brim {

// Thread-compatible.
class ConfigReader {
 public:
  using ReadNode = std::function<void(const YamlNode&)>;
  struct Setting {
    std::string_view name;
    ReadNode read;
  };

  explicit ConfigReader(std::string file) : file_(std::move(file)) {}

  // Calls the setting's reader for each key of the map. Told: no map, an unknown key, one that
  // comes twice.
  void Map(const YamlNode& node, std::initializer_list<Setting> settings);
  // The same for keys that the user chooses; `what` says what they name.
  void Names(const YamlNode& node, std::string_view what,
             const std::function<void(const YamlNode& name, const YamlNode& value)>& read);
  // Calls `read` for each item of the list. Told: no list.
  void List(const YamlNode& node, std::string_view what, const ReadNode& read);

  // Calls `read` as a part of this node: for what is read later than its place in the file.
  void In(std::string_view part, const std::function<void()>& read);

  // Told: no scalar. Text is never empty.
  std::optional<std::string> Text(const YamlNode& node);
  std::optional<bool> Bool(const YamlNode& node);
  std::optional<std::int64_t> Int(const YamlNode& node, std::int64_t least, std::int64_t most);
  // "50ms", "2 s", "1 minute".
  std::optional<Micros> Duration(const YamlNode& node, Micros least, Micros most);
  // "256MiB", "1 GiB", "1048576": bytes.
  std::optional<std::int64_t> Bytes(const YamlNode& node, std::int64_t least, std::int64_t most);
  // One of some words; its place among them.
  std::optional<std::size_t> Word(const YamlNode& node, std::span<const std::string_view> words);

  void Error(const YamlNode& node, std::string message, std::string hint = {});
  // At the place of `node`, about the setting `name` in it.
  void ErrorIn(const YamlNode& node, std::string_view name, std::string message,
               std::string hint = {});
  void Warn(const YamlNode& node, std::string code, std::string field, std::string message,
            std::string hint);

  std::vector<ConfigIssue> Take() { return std::move(issues_); }
  bool failed() const { return failed_; }

 private:
  class Inside;
  void Add(ConfigIssue issue);
  // Told: no map, a key that comes twice. Calls `read` for the first of each.
  void EachKey(const YamlNode& node, std::string_view what,
               const std::function<void(const YamlNode& key, const YamlNode& value)>& read);
  std::optional<std::pair<std::int64_t, std::string_view>> Quantity(const YamlNode& node);

  const std::string file_;
  std::string field_;                // of the node being read: "gateway.routes[2].limits"
  std::vector<ConfigIssue> issues_;  // in the order of their places
  bool failed_ = false;
};

// `word` in double quotes, cut if it is long.
std::string Quoted(std::string_view word);
// "a, b or c"
std::string OneOf(std::span<const std::string_view> words);
// `did you mean "limits"?`, or empty.
std::string Meant(std::string_view word, std::span<const std::string_view> known);

}  // namespace brim

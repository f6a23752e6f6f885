#include "policy/config/config_reader.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <tuple>
#include <unordered_map>

#include "base/limits.h"
#include "policy/did_you_mean.h"
#include "policy/limit_grammar.h"

namespace brim {
namespace {

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr ByteUnit kByteUnits[] = {
    {"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

std::optional<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Micros> UnitNamed(std::string_view word) {
  for (const WindowUnit& unit : kWindowUnits) {
    if (word == unit.name || word == unit.plural || word == unit.brief || word == unit.middle) {
      return unit.length;
    }
  }
  return std::nullopt;
}

std::string Plain(Micros duration) { return std::to_string(duration.count() / 1000) + " ms"; }

std::string_view KindName(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a word";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return {};
}

}  // namespace

std::string Quoted(std::string_view word) {
  std::string text = "\"";
  text += word.substr(0, limits::kMaxShownWordBytes);
  text += word.size() > limits::kMaxShownWordBytes ? "...\"" : "\"";
  return text;
}

std::string OneOf(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string Meant(std::string_view word, std::span<const std::string_view> known) {
  std::string lower(word.substr(0, limits::kMaxShownWordBytes));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string_view meant = DidYouMean(lower, known);
  return meant.empty() ? std::string() : "did you mean " + Quoted(meant) + "?";
}

// While it lives, errors are told of this part of the node.
class ConfigReader::Inside {
 public:
  Inside(ConfigReader& reader, std::string_view part)
      : reader_(reader), was_(reader.field_.size()) {
    if (was_ != 0 && !part.starts_with('[')) reader_.field_ += '.';
    reader_.field_ += part.substr(0, limits::kMaxShownWordBytes);
  }
  ~Inside() { reader_.field_.resize(was_); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  ConfigReader& reader_;
  const std::size_t was_;
};

void ConfigReader::EachKey(
    const YamlNode& node, std::string_view what,
    const std::function<void(const YamlNode& key, const YamlNode& value)>& read) {
  if (node.kind != YamlNode::Kind::kMap) {
    return Error(node, "here stands " + std::string(KindName(node.kind)) + ", expected " +
                           std::string(what));
  }
  std::unordered_map<std::string_view, int> lines;
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const YamlNode& key = node.items[i];
    const Inside inside(*this, key.text);
    const auto [first, is_new] = lines.emplace(key.text, key.place.line);
    if (is_new) {
      read(key, node.items[i + 1]);
    } else {
      Error(key, Quoted(key.text) + " stands here twice",
            "the first is in line " + std::to_string(first->second) + ": remove one");
    }
  }
}

void ConfigReader::Map(const YamlNode& node, std::initializer_list<Setting> settings) {
  EachKey(node, "settings, each as `name: value`",
          [this, settings](const YamlNode& key, const YamlNode& value) {
            for (const Setting& setting : settings) {
              if (setting.name == key.text) return setting.read(value);
            }
            std::vector<std::string_view> known;
            for (const Setting& setting : settings) known.push_back(setting.name);
            std::string hint = Meant(key.text, known);
            if (hint.empty()) hint = "known here: " + OneOf(known);
            Error(key, "there is no setting " + Quoted(key.text), std::move(hint));
          });
}

void ConfigReader::Names(
    const YamlNode& node, std::string_view what,
    const std::function<void(const YamlNode& name, const YamlNode& value)>& read) {
  EachKey(node, what, read);
}

void ConfigReader::List(const YamlNode& node, std::string_view what, const ReadNode& read) {
  if (node.kind != YamlNode::Kind::kList) {
    return Error(node, "here stands " + std::string(KindName(node.kind)) + ", expected a list of " +
                           std::string(what));
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Inside inside(*this, "[" + std::to_string(i) + "]");
    read(node.items[i]);
  }
}

void ConfigReader::In(std::string_view part, const std::function<void()>& read) {
  const Inside inside(*this, part);
  read();
}

std::optional<std::string> ConfigReader::Text(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar && !node.text.empty()) return node.text;
  const bool missing = node.kind == YamlNode::Kind::kNull || node.kind == YamlNode::Kind::kScalar;
  Error(node, missing ? "the value is missing"
                      : "here stands " + std::string(KindName(node.kind)) + ", expected a word");
  return std::nullopt;
}

std::optional<bool> ConfigReader::Bool(const YamlNode& node) {
  constexpr std::string_view kWords[] = {"false", "true"};
  const auto word = Word(node, kWords);
  if (!word) return std::nullopt;
  return *word == 1;
}

std::optional<std::int64_t> ConfigReader::Int(const YamlNode& node, std::int64_t least,
                                              std::int64_t most) {
  const auto text = Text(node);
  if (!text) return std::nullopt;
  const auto value = ParseInt(*text);
  if (value && *value >= least && *value <= most) return value;
  Error(node, Quoted(*text) + " is no whole number from " + std::to_string(least) + " to " +
                  std::to_string(most));
  return std::nullopt;
}

// "50ms": a number, and the word behind it.
std::optional<std::pair<std::int64_t, std::string_view>> ConfigReader::Quantity(
    const YamlNode& node) {
  const std::string_view text = node.text;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ParseInt(text.substr(0, digits));
  if (!number) return std::nullopt;
  const std::size_t word = std::min(text.find_first_not_of(' ', digits), text.size());
  return std::pair(*number, text.substr(word));
}

std::optional<Micros> ConfigReader::Duration(const YamlNode& node, Micros least, Micros most) {
  if (!Text(node)) return std::nullopt;
  if (const auto quantity = Quantity(node)) {
    const auto unit = UnitNamed(quantity->second);
    if (unit && quantity->first <= most / *unit && quantity->first * *unit >= least) {
      return quantity->first * *unit;
    }
  }
  Error(node, Quoted(node.text) + " is no duration from " + Plain(least) + " to " + Plain(most),
        "write it like 50ms or 2s");
  return std::nullopt;
}

std::optional<std::int64_t> ConfigReader::Bytes(const YamlNode& node, std::int64_t least,
                                                std::int64_t most) {
  if (!Text(node)) return std::nullopt;
  if (const auto quantity = Quantity(node)) {
    for (const auto& [name, bytes] : kByteUnits) {
      if (name != quantity->second || quantity->first > most / bytes) continue;
      if (quantity->first * bytes >= least) return quantity->first * bytes;
    }
  }
  Error(node,
        Quoted(node.text) + " is no size from " + std::to_string(least) + " to " +
            std::to_string(most) + " bytes",
        "write it like 256MiB or 1GiB");
  return std::nullopt;
}

std::optional<std::size_t> ConfigReader::Word(const YamlNode& node,
                                              std::span<const std::string_view> words) {
  const auto text = Text(node);
  if (!text) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  Error(node, Quoted(*text) + " is not known here: write " + OneOf(words), Meant(*text, words));
  return std::nullopt;
}

void ConfigReader::Error(const YamlNode& node, std::string message, std::string hint) {
  Add({.severity = Severity::kError,
       .code = {},
       .file = file_,
       .place = node.place,
       .width = std::max<std::size_t>(1, node.text.size()),
       .field = field_,
       .message = std::move(message),
       .hint = std::move(hint)});
}

void ConfigReader::Warn(const YamlNode& node, std::string code, std::string field,
                        std::string message, std::string hint) {
  Add({.severity = Severity::kWarning,
       .code = std::move(code),
       .file = file_,
       .place = node.place,
       .width = std::max<std::size_t>(1, node.text.size()),
       .field = std::move(field),
       .message = std::move(message),
       .hint = std::move(hint)});
}

void ConfigReader::ErrorIn(const YamlNode& node, std::string_view name, std::string message,
                           std::string hint) {
  const Inside inside(*this, name);
  Error(node, std::move(message), std::move(hint));
}

void ConfigReader::Add(ConfigIssue issue) {
  failed_ = failed_ || issue.severity == Severity::kError;
  if (issues_.size() == limits::kMaxConfigIssues) return;
  const auto behind = [](const ConfigIssue& a, const ConfigIssue& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  };
  // Behind those of the same place: they keep their order.
  issues_.insert(std::upper_bound(issues_.begin(), issues_.end(), issue, behind), std::move(issue));
}

}  // namespace brim

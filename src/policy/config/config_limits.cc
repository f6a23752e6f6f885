#include <algorithm>
#include <set>
#include <utility>

#include <brim/limit.h>
#include "base/limits.h"
#include "policy/config/config_sections.h"
#include "policy/key.h"

namespace brim {
namespace {

constexpr std::string_view kCounts[] = {"admitted", "all"};
constexpr std::string_view kKeys[] = {"full", "plain"};

LimitSpec SpecOf(const Limit& limit) {
  LimitSpec spec{.units = limit.units(),
                 .window = limit.window(),
                 .algorithm = limit.algorithm(),
                 .anchor = limit.anchor(),
                 .count = limit.count(),
                 .mode = limit.mode(),
                 .key = limit.key(),
                 .weighted = limit.weighted()};
  if (limit.algorithm() == Algorithm::kTokenBucket) spec.burst = limit.burst();
  return spec;
}

std::optional<Limit> ReadLimitText(ConfigReader& reader, const YamlNode& node) {
  const auto text = reader.Text(node);
  if (!text) return std::nullopt;
  const Result<Limit> limit = ParseLimit(*text);
  if (limit) return *limit;
  reader.Error(node, limit.error().message, "write it like \"5 per minute\"");
  return std::nullopt;
}

// {limit: ..., cost: ...}: `spec` starts as what the text says, and the other settings change it.
class LimitItemReader {
 public:
  LimitItemReader(ConfigReader& reader, const YamlNode& node) : reader_(reader), node_(node) {}

  std::optional<PolicyLimit> Read() {
    const YamlNode* text = nullptr;
    reader_.Map(
        node_,
        {{"limit", [&](const YamlNode& value) { text = &value; }},
         {"subject", [this](const YamlNode& value) { subject_ = reader_.Text(value); }},
         {"scope", [this](const YamlNode& value) { ReadScope(value); }},
         {"cost",
          [this](const YamlNode& value) { cost_ = reader_.Int(value, 1, Limit::kMaxUnits); }},
         {"count", [this](const YamlNode& value) { count_ = reader_.Word(value, kCounts); }},
         {"key", [this](const YamlNode& value) { key_ = reader_.Word(value, kKeys); }},
         {"mode", [this](const YamlNode& value) {
            mode_.emplace();
            ReadMode(reader_, value, *mode_);
          }}});
    if (text == nullptr) {
      reader_.Error(node_, "the limit itself is missing", "add limit: 5 per minute");
      return std::nullopt;
    }
    const auto limit = ReadLimitText(reader_, *text);
    if (!limit) return std::nullopt;
    return Build(*limit, *text);
  }

 private:
  // The one text that may be empty: no scope.
  void ReadScope(const YamlNode& value) {
    if (value.kind == YamlNode::Kind::kScalar) {
      scope_ = value.text;
    } else {
      scope_ = reader_.Text(value);
    }
  }

  std::optional<PolicyLimit> Build(const Limit& plain, const YamlNode& text) {
    LimitSpec spec = SpecOf(plain);
    if (count_) spec.count = *count_ == 0 ? Count::kAdmitted : Count::kAll;
    if (key_) spec.key = *key_ == 0 ? KeyForm::kFull : KeyForm::kPlain;
    if (mode_) spec.mode = *mode_;
    const Result<Limit> limit = Limit::Create(spec);
    if (!limit) {
      reader_.Error(text, limit.error().message);
      return std::nullopt;
    }
    if (spec.key == KeyForm::kPlain) {
      if (scope_ && !scope_->empty()) {
        reader_.Error(node_, "a plain key has no room for a scope", "remove key or scope");
      }
      scope_ = "";
    }
    CheckCost(*limit);
    return PolicyLimit{.limit = *limit,
                       .subject = subject_.value_or(""),
                       .scope = scope_,
                       .cost = cost_,
                       .own_mode = limit->mode()};
  }

  void CheckCost(const Limit& limit) {
    if (!cost_) return;
    if (limit.capacity() != 0 && *cost_ > limit.capacity()) {
      reader_.ErrorIn(node_, "cost",
                      "a cost of " + std::to_string(*cost_) + " never fits " + FormatLimit(limit));
    } else if (*cost_ > limits::kMaxLogCost && !limit.weighted() &&
               limit.algorithm() == Algorithm::kSlidingWindow) {
      reader_.ErrorIn(
          node_, "cost",
          "a sliding_window takes a cost of at most " + std::to_string(limits::kMaxLogCost),
          "add the word weighted to the limit, or choose another algorithm");
    }
  }

  ConfigReader& reader_;
  const YamlNode& node_;
  std::optional<std::string> subject_, scope_;
  std::optional<Units> cost_;
  std::optional<std::size_t> count_, key_;
  std::optional<Mode> mode_;
};

}  // namespace

std::vector<PolicyLimit> ReadLimits(ConfigReader& reader, const YamlNode& node) {
  std::vector<PolicyLimit> limits;
  if (node.kind == YamlNode::Kind::kScalar && !node.text.empty()) {
    const auto parsed = ParseLimits(node.text);
    if (!parsed) {
      reader.Error(node, parsed.error().message, "write it like \"5 per minute; 100 per day\"");
      return limits;
    }
    for (const Limit& limit : *parsed) {
      limits.push_back({.limit = limit, .own_mode = limit.mode()});
    }
    return limits;
  }
  reader.List(node, "limits like `[5 per minute, 100 per day]`", [&](const YamlNode& item) {
    if (item.kind == YamlNode::Kind::kMap) {
      if (auto limit = LimitItemReader(reader, item).Read()) limits.push_back(*std::move(limit));
    } else if (const auto limit = ReadLimitText(reader, item)) {
      limits.push_back({.limit = *limit, .own_mode = limit->mode()});
    }
  });
  if (limits.size() > kMaxLines) {
    reader.Error(node, std::to_string(limits.size()) + " limits for one check are too many",
                 "at most " + std::to_string(kMaxLines) + " are possible");
  }
  return limits;
}

std::string KeyOf(const PolicyLimit& limit, std::string_view scope) {
  const std::string_view own = limit.scope ? std::string_view(*limit.scope) : scope;
  // The requests' subjects are unknown here; a constant one is never theirs by intent.
  const std::string subject = limit.subject.empty() ? "-" : "+" + limit.subject;
  const Result<Key> key = BuildKey({}, subject, own, limit.limit);
  return key ? std::string(key->view()) : std::string();
}

void CheckKeys(ConfigReader& reader, const YamlNode& node, const std::vector<PolicyLimit>& limits,
               std::string_view scope) {
  std::set<std::string> keys;
  for (const PolicyLimit& limit : limits) {
    if (keys.insert(KeyOf(limit, scope)).second) continue;
    reader.Error(node, "two limits would share one key; the second is " + FormatLimit(limit.limit),
                 "keep one, or change the window, the algorithm or the scope of one");
  }
}

}  // namespace brim

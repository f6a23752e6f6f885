#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/limits.h"
#include "policy/config/config_sections.h"

namespace brim {
namespace {

constexpr std::string_view kScopeOfRoute = "\x01";  // stands for the name of whatever route it is

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

void ReadTier(ConfigReader& reader, const YamlNode& node, Tier& tier) {
  const YamlNode* limits = &node;
  if (node.kind == YamlNode::Kind::kMap) {
    limits = nullptr;
    reader.Map(
        node,
        {{"limits", [&](const YamlNode& value) { limits = &value; }},
         {"per_route",
          [&](const YamlNode& value) { tier.per_route = reader.Bool(value).value_or(false); }},
         {"mode", [&](const YamlNode& value) { ReadMode(reader, value, tier.mode); }}});
  }
  if (limits == nullptr) {
    return reader.Error(node, "the tier has no limits", "add limits: [5 per minute]");
  }
  tier.limits = ReadLimits(reader, *limits);
  CheckKeys(reader, *limits, tier.limits, tier.per_route ? kScopeOfRoute : "");
  ApplyMode(tier.mode, tier.limits);
}

// Which keys the tiers use, to find limits of routes that would use them too.
class TierKeys {
 public:
  explicit TierKeys(const PolicySet& set) {
    for (const auto& [name, tier] : set.tiers) {
      for (const PolicyLimit& limit : tier.limits) {
        keys_.emplace(KeyOf(limit, tier.per_route ? kScopeOfRoute : ""), name);
      }
      most_ = std::max(most_, tier.limits.size());
    }
  }

  // The tier that uses the limit's key; null if there is none.
  const std::string* Find(const PolicyLimit& limit, const std::string& route) const {
    auto found = keys_.find(KeyOf(limit, route));
    if (found == keys_.end() && limit.scope.value_or(route) == route) {
      PolicyLimit of_route = limit;
      of_route.scope.reset();
      found = keys_.find(KeyOf(of_route, kScopeOfRoute));
    }
    return found == keys_.end() ? nullptr : &found->second;
  }
  std::size_t most_limits() const { return most_; }

 private:
  std::map<std::string, std::string> keys_;  // the name of the tier, by key
  std::size_t most_ = 0;
};

class RouteReader {
 public:
  RouteReader(ConfigReader& reader, const YamlNode& node, const ConfigChecks& checks, DenyForm deny)
      : reader_(reader), node_(node), checks_(checks) {
    route_.deny = deny;
  }

  // nullopt if it has no name or path to go by.
  std::optional<RoutePolicy> Read(const TierKeys& tiers) {
    reader_.Map(
        node_,
        {{"name", [this](const YamlNode& value) { ReadName(value); }},
         {"path", [this](const YamlNode& value) { ReadPath(value); }},
         {"limits", [this](const YamlNode& value) { limits_ = &value; }},
         {"tiers",
          [this](const YamlNode& value) { route_.tiers = reader_.Bool(value).value_or(false); }},
         {"respond", [this](const YamlNode& value) { ReadRespond(value); }},
         {"deny", [this](const YamlNode& value) { ReadDeny(reader_, value, route_.deny); }},
         {"mode", [this](const YamlNode& value) { ReadMode(reader_, value, route_.mode); }},
         {"upstream", [this](const YamlNode& value) { RefuseUpstream(value); }}});
    ReadOwnLimits(tiers);
    Require(has_name_, "name", "add a name, it is the scope of the route's limits");
    Require(has_path_, "path", "add a path, like /api/search");
    Require(responds_, "respond", "add what the route answers, like respond: {json: {ok: true}}");
    if (route_.name.empty() || route_.path.empty()) return std::nullopt;
    return std::move(route_);
  }

 private:
  void Require(bool given, std::string_view name, std::string hint) {
    if (given) return;
    reader_.Error(node_, "the route has no " + std::string(name), std::move(hint));
  }

  void ReadName(const YamlNode& value) {
    has_name_ = true;
    const auto name = reader_.Text(value);
    if (name && CheckName(reader_, value, *name)) route_.name = *name;
  }

  void ReadPath(const YamlNode& value) {
    has_path_ = true;
    const auto path = reader_.Text(value);
    if (!path) return;
    const bool plain = std::all_of(path->begin(), path->end(), [](char c) {
      return c > ' ' && c <= '~' && c != '?' && c != '#';
    });
    if (path->front() != '/' || !plain || path->size() > limits::kMaxPathBytes) {
      return reader_.Error(value, Quoted(*path) + " is no path",
                           "write it as it is sent: from the first '/', percent-encoded, without "
                           "'?' and '#'");
    }
    route_.path = *path;
  }

  void ReadOwnLimits(const TierKeys& tiers) {
    if (limits_ != nullptr) {
      reader_.In("limits", [this, &tiers] {
        route_.limits = ReadLimits(reader_, *limits_);
        CheckKeys(reader_, *limits_, route_.limits, route_.name);
        if (route_.tiers) CheckAgainst(tiers);
      });
    } else if (!route_.tiers) {
      reader_.Error(node_, "the route has no limits",
                    "add limits: [5 per minute], tiers: true, or limits: [] for none");
    }
    ApplyMode(route_.mode, route_.limits);
  }

  // Tiers and own limits are looked at in one check.
  void CheckAgainst(const TierKeys& tiers) {
    if (route_.limits.size() + tiers.most_limits() > kMaxLines) {
      reader_.Error(*limits_, "with those of the tiers these are too many limits for one check",
                    "at most " + std::to_string(kMaxLines) + " are possible");
    }
    for (const PolicyLimit& limit : route_.limits) {
      const std::string* const tier = tiers.Find(limit, route_.name);
      if (tier == nullptr) continue;
      reader_.Error(*limits_,
                    FormatLimit(limit.limit) + " would share its key with a limit of the tier " +
                        Quoted(*tier),
                    "change the window, the algorithm or the scope of one");
    }
  }

  void ReadRespond(const YamlNode& value) {
    responds_ = true;
    const YamlNode* json = nullptr;
    reader_.Map(value, {{"json", [&](const YamlNode& text) { json = &text; }}});
    if (json == nullptr) return reader_.Error(value, "respond has no json", "add json: {ok: true}");
    route_.respond = ToJson(*json);
    if (!checks_.respond) return;
    if (const auto valid = checks_.respond(route_.respond); !valid) {
      reader_.Error(*json, valid.error().message);
    }
  }

  void RefuseUpstream(const YamlNode& value) {
    responds_ = true;  // that it does not is no second mistake
    reader_.Error(value, "brim does not forward to an upstream yet: that comes with the proxy",
                  "until then let your proxy ask /v1/auth, or answer with respond");
  }

  ConfigReader& reader_;
  const YamlNode& node_;
  const ConfigChecks& checks_;
  RoutePolicy route_{};
  const YamlNode* limits_ = nullptr;
  bool has_name_ = false;
  bool has_path_ = false;
  bool responds_ = false;
};

// Names of routes and tiers are one set: /v1/modes/NAME means one of them.
void AddRoute(ConfigReader& reader, const YamlNode& node, RoutePolicy route,
              std::set<std::string>& names, PolicySet& set) {
  if (set.tiers.contains(route.name) || !names.insert(route.name).second) {
    reader.ErrorIn(node, "name", Quoted(route.name) + " is the name of another route or tier",
                   "choose another name");
  }
  std::string path = route.path;
  if (!set.routes.emplace(path, std::move(route)).second) {
    reader.ErrorIn(node, "path", Quoted(path) + " is the path of another route",
                   "keep one of the two");
  }
}

}  // namespace

bool CheckName(ConfigReader& reader, const YamlNode& node, std::string_view name) {
  if (!name.empty() && name.size() <= limits::kMaxNameBytes &&
      std::all_of(name.begin(), name.end(), IsNameByte)) {
    return true;
  }
  reader.Error(
      node, Quoted(name) + " is no name",
      "use 1 to " + std::to_string(limits::kMaxNameBytes) + " letters, digits, '_', '-' and '.'");
  return false;
}

void ReadTiers(ConfigReader& reader, const YamlNode& node, PolicySet& set) {
  set.tiers.clear();
  reader.Names(node, "tiers, each as `name: [5 per minute]`",
               [&](const YamlNode& key, const YamlNode& value) {
                 if (!CheckName(reader, key, key.text)) return;
                 Tier tier{.name = key.text, .limits = {}};
                 ReadTier(reader, value, tier);
                 if (set.tiers.size() < limits::kMaxRules)
                   set.tiers.emplace(key.text, std::move(tier));
               });
  if (set.tiers.empty() && !reader.failed()) {
    reader.Error(node, "there is no tier", "name one, or leave tiers out for the built-in ones");
  }
}

void ReadGateway(ConfigReader& reader, const YamlNode& node, const ConfigChecks& checks,
                 PolicySet& set) {
  const TierKeys tiers(set);
  std::set<std::string> names;
  reader.Map(
      node,
      {{"listen",
        [&](const YamlNode& value) { ReadListen(reader, value, checks, set.gateway_listen); }},
       {"routes", [&](const YamlNode& value) {
          if (value.items.size() + set.tiers.size() > limits::kMaxRules) {
            return reader.Error(
                value, "more than " + std::to_string(limits::kMaxRules) + " tiers and routes");
          }
          reader.List(value, "routes", [&](const YamlNode& item) {
            auto route = RouteReader(reader, item, checks, set.deny).Read(tiers);
            if (route) AddRoute(reader, item, *std::move(route), names, set);
          });
        }}});
}

}  // namespace brim

#include "policy/policy_set.h"

#include <utility>

#include "base/assert.h"

namespace brim {
namespace {

constexpr std::pair<DenyForm, std::string_view> kDenyForms[] = {{DenyForm::kMessage, "message"},
                                                                {DenyForm::kObject, "object"},
                                                                {DenyForm::kProblem, "problem"}};
constexpr std::pair<Mode, std::string_view> kModes[] = {
    {Mode::kEnforce, "enforce"}, {Mode::kShadow, "shadow"}, {Mode::kOff, "off"}};

template <typename Enum, std::size_t N>
std::string_view NameOf(Enum value, const std::pair<Enum, std::string_view> (&names)[N]) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  return {};
}

template <typename Enum, std::size_t N>
std::optional<Enum> ValueOf(std::string_view name,
                            const std::pair<Enum, std::string_view> (&names)[N]) {
  for (const auto& [value, candidate] : names) {
    if (candidate == name) return value;
  }
  return std::nullopt;
}

Tier MakeTier(std::string name, std::string_view limits) {
  Tier tier{.name = std::move(name), .limits = {}};
  for (const Limit& limit : ParseLimits(limits).value()) tier.limits.push_back({.limit = limit});
  return tier;
}

}  // namespace

const Tier& PolicySet::FindTier(std::string_view name) const {
  if (const auto found = tiers.find(name); found != tiers.end()) return found->second;
  const auto fallback = tiers.find(default_tier);
  BRIM_ASSERT(fallback != tiers.end());
  return fallback->second;
}

const RoutePolicy* PolicySet::FindRoute(std::string_view path) const {
  if (const auto exact = routes.find(path); exact != routes.end()) return &exact->second;
  while (!path.empty()) {  // stops: each turn drops the last segment
    path = path.substr(0, path.find_last_of('/') + 1);
    if (const auto prefix = routes.find(path); prefix != routes.end()) return &prefix->second;
    if (!path.empty()) path.remove_suffix(1);
  }
  return nullptr;
}

PolicySet DefaultPolicySet() {
  PolicySet set;
  for (Tier tier : {MakeTier("free", "5 per minute; 100 per day"),
                    MakeTier("pro", "60 per minute; 5000 per day"),
                    MakeTier("enterprise", "600 per minute; 100000 per day")}) {
    set.tiers.emplace(tier.name, std::move(tier));
  }
  set.default_tier = "free";
  set.identity.subject = {{SubjectSource::Kind::kPeerAddress}, {SubjectSource::Kind::kAnonymous}};
  return set;
}

std::string_view DenyFormName(DenyForm form) { return NameOf(form, kDenyForms); }
std::optional<DenyForm> ParseDenyForm(std::string_view name) { return ValueOf(name, kDenyForms); }
std::string_view ModeName(Mode mode) { return NameOf(mode, kModes); }
std::optional<Mode> ParseMode(std::string_view name) { return ValueOf(name, kModes); }

void ApplyMode(Mode mode, std::vector<PolicyLimit>& limits) {
  for (PolicyLimit& limit : limits) {
    // What is off stays off when the others are only watched.
    const bool own = mode == Mode::kEnforce || limit.own_mode == Mode::kOff;
    limit.limit = limit.limit.WithMode(own ? limit.own_mode : mode);
  }
}

}  // namespace brim

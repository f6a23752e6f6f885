#include "door/served_policy.h"

#include <utility>

#include "door/rate_headers.h"

namespace brim::door {
namespace {

// `scope` is for limits that name none; unset: that of the request.
void AddItems(const std::vector<PolicyLimit>& limits, std::optional<std::string_view> scope,
              std::vector<LimitItem>& items) {
  for (const PolicyLimit& limit : limits) {
    LimitItem& item = items.emplace_back(LimitItem{
        .limit = limit.limit, .subject = limit.subject, .scope = scope, .cost = limit.cost});
    if (limit.scope) item.scope = *limit.scope;
    if (limit.limit.key() == KeyForm::kPlain) item.scope = "";  // such a key has no room for one
  }
}

// The limits of a tier hold everywhere together, unless it counts for each route by itself.
void AddItems(const Tier& tier, std::optional<std::string_view> scope,
              std::vector<LimitItem>& items) {
  AddItems(tier.limits, tier.per_route ? scope : "", items);
}

PreparedCheck Prepare(std::string_view name, std::vector<LimitItem> items) {
  std::string policy = PolicyValue(items);
  return {name, std::move(items), std::move(policy)};
}

}  // namespace

Result<std::shared_ptr<const ServedPolicy>> ServedPolicy::Make(
    std::shared_ptr<const PolicySet> set) {
  std::shared_ptr<ServedPolicy> served(new ServedPolicy(std::move(set)));
  if (auto loaded = served->LoadTokens(); !loaded) return loaded.error();
  for (const auto& [name, tier] : served->set_->tiers) {
    std::vector<LimitItem> items;
    AddItems(tier, std::nullopt, items);
    served->tiers_.emplace(name, Prepare(name, std::move(items)));
  }
  for (const auto& [path, route] : served->set_->routes) {
    if (auto added = served->AddRoute(route); !added) return added.error();
  }
  return std::shared_ptr<const ServedPolicy>(std::move(served));
}

Result<void> ServedPolicy::LoadTokens() {
  if (!set_->api_token_file.empty()) {
    auto token = BearerToken::Load(set_->api_token_file, "api_token_file");
    if (!token) return token.error();
    api_token_ = *std::move(token);
  }
  if (!set_->admin_token_file.empty()) {
    auto token = BearerToken::Load(set_->admin_token_file, "admin.token_file");
    if (!token) return token.error();
    admin_token_ = *std::move(token);
  }
  return {};
}

Result<void> ServedPolicy::AddRoute(const RoutePolicy& route) {
  auto respond = RespondTemplate::Parse(route.respond);
  if (!respond) {
    Error error = respond.error();
    error.message = "route " + route.name + ": " + error.message;
    return error;
  }
  ServedRoute served{&route, *std::move(respond), {}};
  const auto add = [&](std::string_view name, std::vector<LimitItem> items) {
    AddItems(route.limits, route.name, items);
    served.checks.emplace(name, Prepare(name, std::move(items)));
  };
  if (route.tiers) {
    for (const auto& [name, tier] : set_->tiers) {
      std::vector<LimitItem> items;
      AddItems(tier, route.name, items);
      add(name, std::move(items));
    }
  } else {
    add("", {});
  }
  routes_.emplace(&route, std::move(served));
  return {};
}

const PreparedCheck& ServedPolicy::FindTier(std::string_view name) const {
  return tiers_.find(set_->FindTier(name).name)->second;
}

const ServedRoute* ServedPolicy::FindRoute(std::string_view path) const {
  const RoutePolicy* const route = set_->FindRoute(path);
  return route == nullptr ? nullptr : &routes_.find(route)->second;
}

const PreparedCheck& ServedPolicy::FindCheck(const ServedRoute& route,
                                             std::string_view tier) const {
  // Not `c ? a_string : ""`: that is a new string, and a view of it dangles.
  std::string_view name;
  if (route.route->tiers) name = set_->FindTier(tier).name;
  return route.checks.find(name)->second;
}

}  // namespace brim::door

// A PolicySet made ready to serve: the checks that it lays down, put together once instead of at
// each request, and the files that it names.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <brim/limiter.h>
#include <brim/result.h>
#include "base/snapshot.h"
#include "door/bearer_token.h"
#include "door/gateway/respond.h"
#include "policy/policy_set.h"

namespace brim::door {

// What to ask for a tier, or for a route and a tier. Its views are of the PolicySet.
struct PreparedCheck {
  std::string_view name;  // of the tier; empty for a route that knows none
  std::vector<LimitItem> items;
  std::string policy;  // the value of RateLimit-Policy
};

struct ServedRoute {
  const RoutePolicy* route;
  RespondTemplate respond;
  // By the tier's name; of a route without tiers the only one, under "".
  std::map<std::string_view, PreparedCheck> checks;
};

// Immutable.
class ServedPolicy {
 public:
  // kInvalid, with the field: a file that the set names cannot be used, or a route's text.
  static Result<std::shared_ptr<const ServedPolicy>> Make(std::shared_ptr<const PolicySet> set);

  const PolicySet& set() const { return *set_; }
  const BearerToken& api_token() const { return api_token_; }
  const BearerToken& admin_token() const { return admin_token_; }

  // Of the tier of that name, else of the default one, for a check that no route stands behind: a
  // tier that counts per route counts under the scope of the request.
  const PreparedCheck& FindTier(std::string_view name) const;
  // Null if there is none for the path.
  const ServedRoute* FindRoute(std::string_view path) const;
  // For a client of that tier.
  const PreparedCheck& FindCheck(const ServedRoute& route, std::string_view tier) const;

 private:
  explicit ServedPolicy(std::shared_ptr<const PolicySet> set) : set_(std::move(set)) {}
  Result<void> LoadTokens();
  Result<void> AddRoute(const RoutePolicy& route);

  std::shared_ptr<const PolicySet> set_;
  BearerToken api_token_;
  BearerToken admin_token_;
  std::map<std::string_view, PreparedCheck> tiers_;
  std::map<const RoutePolicy*, ServedRoute> routes_;
};

using ServedPolicyHolder = SnapshotHolder<ServedPolicy>;

}  // namespace brim::door

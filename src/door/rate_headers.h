// The headers that tell a client how it stands, in the families that the configuration chose.
#pragma once

#include <span>
#include <string>

#include <brim/decision.h>
#include <brim/limiter.h>
#include "net/http.h"
#include "policy/policy_set.h"

namespace brim::door {

// The value of RateLimit-Policy: what limits there are, shortest window first, none that is off;
// empty without any: `"minute";q=5;w=60, "day";q=100;w=86400`. Of a check that many clients ask it
// is worth keeping.
std::string PolicyValue(std::span<const LimitItem> items);

// Adds RateLimit-Policy, if that family is on and there are limits.
void AddPolicyHeader(std::string_view value, HeaderFamilies families, net::HttpResponse& response);
void AddPolicyHeader(std::span<const LimitItem> items, HeaderFamilies families,
                     net::HttpResponse& response);

// Adds what the decision says: X-RateLimit-*, RateLimit, and, in every family, Retry-After or
// x-should-retry to a refusal.
void AddDecisionHeaders(const Decision& decision, HeaderFamilies families,
                        net::HttpResponse& response);

// The name that the headers give to this line of a decision: its window's, with a number if an
// earlier line has the same window.
std::string LineName(const Decision& decision, std::size_t line);

}  // namespace brim::door

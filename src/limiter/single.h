// The commonest check, one enforced limit with a cost, on its own short way through match, store
// and decision: without the lists that several lines need, it takes a third of the time. What is
// not of this shape, or wrong in any way, goes the long way (match.h, decide.h), which answers the
// same.
#pragma once

#include <brim/decision.h>
#include <brim/limiter.h>
#include <brim/store.h>
#include "limiter/match.h"
#include "policy/key.h"

namespace brim {

// Matches the request, with `key` (kMaxKeyBytes) to hold the take's key. False: it goes the long
// way. Pure.
inline bool MatchSingle(const KeyEncoder& keys, const CheckRequest& request, char* key,
                        SingleTake& take) {
  if (request.limits.size() != 1 || !request.items.empty()) return false;
  const Limit& limit = request.limits.front();
  const Units most = limit.algorithm() == Algorithm::kSlidingWindow && !limit.weighted()
                         ? kMaxLogCost
                         : Limit::kMaxUnits;
  if (request.cost < 1 || request.cost > most || limit.mode() != Mode::kEnforce) return false;
  const std::size_t size = keys.Write(request.subject, request.scope, limit, key);
  if (size == 0) return false;
  take.key = {key, size};
  take.limit = &limit;
  take.cost = request.cost;
  return true;
}

// As Decide of this one line. `decision` is a new one. Pure.
inline void DecideSingle(const SingleTake& take, Decision& decision) {
  const auto& [key, limit, cost, status] = take;
  decision.limit = limit->capacity();
  decision.remaining = status.remaining;
  decision.window = limit->window();
  decision.reset_after = status.reset_after;
  decision.line = 0;
  decision.lines.emplace_back(*limit, cost, status.fit, status.remaining, status.retry_after,
                              status.reset_after);
  if (status.fit == Fit::kFits) {
    decision.reason = Reason::kWithinLimit;
    return;
  }
  decision.outcome = Outcome::kLimited;
  decision.reason = status.fit == Fit::kNever ? Reason::kCostExceedsLimit : Reason::kOverLimit;
  decision.retry_after = status.retry_after;
}

}  // namespace brim

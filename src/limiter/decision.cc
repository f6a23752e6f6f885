#include <brim/decision.h>
#include "base/rounding.h"

namespace brim {

std::string_view ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kWithinLimit:
      return "within_limit";
    case Reason::kOverLimit:
      return "over_limit";
    case Reason::kCostExceedsLimit:
      return "cost_exceeds_limit";
    case Reason::kNoRule:
      return "no_rule";
    case Reason::kShadow:
      return "shadow";
    case Reason::kKillSwitch:
      return "kill_switch";
    case Reason::kDegradedLocal:
      return "degraded_local";
    case Reason::kFailOpen:
      return "fail_open";
    case Reason::kFailClosed:
      return "fail_closed";
    case Reason::kInvalidLimit:
      return "invalid_limit";
  }
  return "";
}

std::string_view StoreErrorName(StoreError error) {
  switch (error) {
    case StoreError::kNone:
      return "";
    case StoreError::kUnavailable:
      return "unavailable";
    case StoreError::kUnknown:
      return "unknown";
    case StoreError::kOutOfMemory:
      return "oom";
    case StoreError::kSetup:
      return "setup";
  }
  return "";
}

std::optional<std::int64_t> RetryAfterSeconds(Micros retry_after) {
  if (retry_after == kNever) return std::nullopt;
  return DivideUp(retry_after.count(), 1'000'000);
}

std::optional<std::int64_t> RetryAfterMillis(Micros retry_after) {
  if (retry_after == kNever) return std::nullopt;
  return DivideUp(retry_after.count(), 1'000);
}

}  // namespace brim

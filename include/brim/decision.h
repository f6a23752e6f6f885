// The answer to one check, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <brim/limit.h>
#include <brim/static_vector.h>

namespace brim {

enum class Outcome : std::uint8_t { kAllowed, kLimited };

// Why the answer is what it is; also the metric label. A store failure always shows here: nobody
// can mistake it for an ordinary answer.
enum class Reason : std::uint8_t {
  kWithinLimit,
  kOverLimit,
  kCostExceedsLimit,  // can never fit: retry_after is kNever
  kNoRule,            // no limit applies
  kShadow,            // only shadow limits apply: they refuse nobody
  kKillSwitch,        // limiting is switched off
  kDegradedLocal,     // the store gave no answer; this process decided with its share of the limit
  kFailOpen,          // the store gave no answer; allowed, as configured
  kFailClosed,        // the store gave no answer; refused, as configured (HTTP 503)
  kInvalidLimit,      // the request made no sense: see Limiter::Validate
};

// Why the store gave no answer. Labels: "unavailable", "unknown", "oom", "setup".
enum class StoreError : std::uint8_t { kNone, kUnavailable, kUnknown, kOutOfMemory, kSetup };

// How a line of a check stands to its limit. For a peek: whether the cost (or one unit) would fit
// now.
enum class Fit : std::uint8_t {
  kFits,
  kOver,         // does not fit now; fits after retry_after
  kNever,        // costs more than the limit can ever hold
  kNotLookedAt,  // stands behind the line that refused
};

inline constexpr Micros kNever = Micros::max();

// One line of a check, after the check.
struct LineDecision {
  Limit limit;
  Units cost;
  Fit fit;
  Units remaining;     // cost units still admissible; never negative
  Micros retry_after;  // 0 if it fits; kNever if it never can
  Micros reset_after;  // until the key is full again
  // A shadow line that would have refused: reported, and not charged.
  bool would_deny() const {
    return limit.mode() == Mode::kShadow && (fit == Fit::kOver || fit == Fit::kNever);
  }
};

// A plain value: copy it freely.
struct Decision {
  Outcome outcome = Outcome::kAllowed;
  Reason reason = Reason::kNoRule;
  StoreError store_error = StoreError::kNone;
  // Of the line that refused; when allowed, of the enforced line with the least remaining / cost.
  Units limit = 0;        // its capacity
  Units remaining = 0;    // after this check; never negative
  Micros window{0};       // 0 if no line was looked at
  Micros retry_after{0};  // 0 if allowed; kNever if the cost can never fit
  Micros reset_after{0};
  std::int32_t line = -1;  // index in `lines` of the line described above; -1 if none
  // Shortest window first; those that were looked at.
  StaticVector<LineDecision, kMaxLines> lines;

  bool allowed() const { return outcome == Outcome::kAllowed; }
};

// "within_limit", "over_limit", ...
std::string_view ReasonName(Reason reason);
// "unavailable", ...; empty for kNone.
std::string_view StoreErrorName(StoreError error);

// Rounded up; at least 1 unless the duration is 0 (then 0). nullopt for kNever.
std::optional<std::int64_t> RetryAfterSeconds(Micros retry_after);
std::optional<std::int64_t> RetryAfterMillis(Micros retry_after);

}  // namespace brim

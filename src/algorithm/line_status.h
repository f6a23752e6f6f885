// What the algorithms that count units (all but the token bucket) share: how a count stands to its
// limit.
#pragma once

#include <algorithm>

#include <brim/limit.h>
#include <brim/store.h>

namespace brim {

// Sets what counts now, and so what is left of the limit.
inline void SetUsed(const Limit& limit, Units used, LineStatus& status) {
  status.used = used;
  status.remaining = std::max<Units>(0, limit.units() - used);
}

// How `cost` stands to a limit of which `used` units count now. reset_after, and the retry_after of
// a line that is over, are the caller's to set. REQUIRES: cost >= 1.
inline LineStatus StatusOf(const Limit& limit, Units used, Units cost) {
  LineStatus status;
  SetUsed(limit, used, status);
  if (cost > limit.units()) {
    status.fit = Fit::kNever;
    status.retry_after = kNever;
  } else {
    status.fit = cost > limit.units() - used ? Fit::kOver : Fit::kFits;
  }
  return status;
}

}  // namespace brim

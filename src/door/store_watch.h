// Whether the store answers, as the decisions of this process tell it. One log line a change, never
// one a request.
#pragma once

#include <atomic>

#include <brim/decision.h>
#include <brim/limiter.h>

namespace brim::door {

// A check for seeing whether the store answers. It writes nothing.
CheckRequest StoreProbe();

// Thread-safe; costs a load a decision. Relaxed loads: the error orders nothing else.
class StoreWatch {
 public:
  void Saw(const Decision& decision) {
    if (Asked(decision) && decision.store_error != error_.load(std::memory_order_relaxed)) {
      Change(decision.store_error);
    }
  }
  // kNone: it answered the last time it was asked, or was not asked yet.
  StoreError error() const { return error_.load(std::memory_order_relaxed); }

 private:
  // The kill switch and empty checks ask no store, and so tell nothing of it.
  static bool Asked(const Decision& decision) {
    return decision.reason != Reason::kKillSwitch && decision.reason != Reason::kNoRule &&
           decision.reason != Reason::kInvalidLimit;
  }
  void Change(StoreError error);

  std::atomic<StoreError> error_{StoreError::kNone};
};

}  // namespace brim::door

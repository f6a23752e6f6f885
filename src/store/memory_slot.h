// One key of the embedded store: its name, its limit and its state, in one cache line.
//
// Each kind of state is one struct below, with the same members; a Slot holds one of them, and
// Visit is the one place that tells which. Another algorithm is another struct (up to 40 bytes; the
// units of the limit are the Slot's), a SlotKind, a member of Slot::State and a case in Visit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <brim/store.h>
#include "algorithm/fixed_window.h"
#include "algorithm/sliding_window.h"
#include "algorithm/sliding_window_counter.h"
#include "algorithm/token_bucket.h"
#include "algorithm/weighted_window.h"
#include "base/rounding.h"
#include "store/cost_log.h"
#include "store/memory_hash.h"
#include "store/time_log.h"

namespace brim {

// The store's time, that all states are kept in: since the store was made. With the offset it is
// wall time, for windows that are aligned to the epoch.
struct MemoryTime {
  std::int64_t us;
  std::int64_t wall_offset_ms;
  std::int64_t ms() const { return us / 1000; }
};

// Look, Charge and Refund are those of src/algorithm. Heal: the limit that was looked at last, in
// so far as the state needs it. Stamp: what a receipt has to know of a charge that was just made.
// IdleAt: from when on the key is full again and may be forgotten. FreeAt: from when on a unit fits
// under a limit of `units`; 0 if one fits at any time. Both are in ms.
struct FixedWindowKey {
  FixedWindowState state;

  void Heal(const Limit& limit, const MemoryTime& now) { HealFixedWindow(limit, state, now.ms()); }
  LineStatus Look(const Limit& limit, Units cost, const MemoryTime& now) const {
    return LookFixedWindow(limit, state, cost, now.ms());
  }
  LineStatus Charge(const Limit& limit, Units cost, const MemoryTime& now, const LineStatus& look) {
    return ChargeFixedWindow(limit, state, cost, now.ms(), now.wall_offset_ms, look);
  }
  std::int64_t Stamp(const Limit&, const MemoryTime&) const { return state.end_ms; }
  void Refund(const Limit& limit, Units cost, const MemoryTime& now, const std::int64_t* stamp) {
    if (stamp == nullptr || *stamp == state.end_ms) {
      RefundFixedWindow(limit, state, cost, now.ms());
    }
  }
  std::int64_t IdleAt() const { return FixedWindowIdleAt(state); }
  std::int64_t FreeAt(Units units) const { return state.used < units ? 0 : state.end_ms; }
  std::size_t heap_bytes() const { return 0; }
  void Clear() {}
};

struct SlidingWindowKey {
  std::int64_t window_ms = 0;
  TimeLog log;

  void Heal(const Limit& limit, const MemoryTime&) { window_ms = WholeMs(limit.window()); }
  LineStatus Look(const Limit& limit, Units cost, const MemoryTime& now) const {
    return LookSlidingWindow(limit, log, cost, now.ms());
  }
  LineStatus Charge(const Limit& limit, Units cost, const MemoryTime& now, const LineStatus& look) {
    const auto live = static_cast<std::size_t>(look.used);
    log.DropOldest(log.size() - live);
    log.Reserve(live + static_cast<std::size_t>(cost), static_cast<std::size_t>(limit.units()));
    return ChargeSlidingWindow(limit, log, cost, now.ms(), look);
  }
  std::int64_t Stamp(const Limit&, const MemoryTime&) const { return log[log.size() - 1]; }
  void Refund(const Limit& limit, Units cost, const MemoryTime& now, const std::int64_t* stamp) {
    const auto n = static_cast<std::size_t>(cost);
    log.DropOldest(log.CountUpTo(now.ms() - WholeMs(limit.window())));
    if (stamp == nullptr) {
      log.DropOldest(std::min(n, log.size()));
    } else {
      log.RemoveAt(*stamp, n);
    }
  }
  std::int64_t IdleAt() const { return log.size() == 0 ? 0 : log[log.size() - 1] + window_ms; }
  // Once this entry has left, fewer than `units` are in the window.
  std::int64_t FreeAt(Units units) const {
    const auto room = static_cast<std::size_t>(units);
    if (log.size() < room || log.size() == 0) return 0;
    return log[std::min(log.size() - room, log.size() - 1)] + window_ms;
  }
  std::size_t heap_bytes() const { return log.heap_bytes(); }
  void Clear() { log.Clear(); }
};

struct WeightedWindowKey {
  std::int64_t window_ms = 0;
  CostLog log;

  void Heal(const Limit& limit, const MemoryTime&) { window_ms = WholeMs(limit.window()); }
  LineStatus Look(const Limit& limit, Units cost, const MemoryTime& now) const {
    return LookWeightedWindow(limit, log, cost, now.ms());
  }
  LineStatus Charge(const Limit& limit, Units cost, const MemoryTime& now, const LineStatus& look) {
    return ChargeWeightedWindow(limit, log, cost, now.ms(), look);
  }
  std::int64_t Stamp(const Limit&, const MemoryTime&) const { return 0; }
  void Refund(const Limit& limit, Units cost, const MemoryTime& now, const std::int64_t*) {
    RefundWeightedWindow(limit, log, cost, now.ms());
  }
  std::int64_t IdleAt() const {
    return log.size() == 0 ? 0 : log.TimeOf(log.size() - 1) + window_ms;
  }
  // Early rather than late: the oldest entry's leaving need not be enough.
  std::int64_t FreeAt(Units units) const {
    if (log.size() == 0 || log.SumUpTo(log.size() - 1) - log.SumBefore(0) < units) return 0;
    return log.TimeOf(0) + window_ms;
  }
  std::size_t heap_bytes() const { return log.heap_bytes(); }
  void Clear() { log.Clear(); }
};

struct TokenBucketKey {
  TokenBucketState state;

  void Heal(const Limit& limit, const MemoryTime& now) { HealTokenBucket(limit, state, now.us); }
  LineStatus Look(const Limit& limit, Units cost, const MemoryTime& now) const {
    return LookTokenBucket(limit, state, cost, now.us);
  }
  LineStatus Charge(const Limit& limit, Units cost, const MemoryTime& now, const LineStatus& look) {
    return ChargeTokenBucket(limit, state, cost, now.us, look);
  }
  std::int64_t Stamp(const Limit&, const MemoryTime&) const { return TokenBucketStamp(state); }
  void Refund(const Limit& limit, Units cost, const MemoryTime& now, const std::int64_t* stamp) {
    RefundTokenBucket(limit, state, cost, now.us, stamp);
  }
  std::int64_t IdleAt() const { return DivideUp(TokenBucketIdleAt(state), 1000); }
  std::int64_t FreeAt(Units units) const { return DivideUp(TokenBucketFreeAt(state, units), 1000); }
  std::size_t heap_bytes() const { return 0; }
  void Clear() {}
};

struct SlidingWindowCounterKey {
  std::int64_t window_ms = 0;
  SlidingWindowCounterState state;

  void Heal(const Limit& limit, const MemoryTime&) { window_ms = WholeMs(limit.window()); }
  LineStatus Look(const Limit& limit, Units cost, const MemoryTime& now) const {
    return LookSlidingWindowCounter(limit, state, cost, now.ms(), now.wall_offset_ms);
  }
  LineStatus Charge(const Limit& limit, Units cost, const MemoryTime& now, const LineStatus& look) {
    return ChargeSlidingWindowCounter(limit, state, cost, now.ms(), now.wall_offset_ms, look);
  }
  std::int64_t Stamp(const Limit&, const MemoryTime&) const { return state.start_ms; }
  void Refund(const Limit& limit, Units cost, const MemoryTime& now, const std::int64_t* stamp) {
    RefundSlidingWindowCounter(limit, state, cost, now.ms(), now.wall_offset_ms, stamp);
  }
  std::int64_t IdleAt() const { return SlidingWindowCounterIdleAt(state, window_ms); }
  // Early rather than late: what is left of the previous window may still refuse.
  std::int64_t FreeAt(Units units) const {
    if (state.current + state.previous < units) return 0;
    return state.current < units ? state.start_ms : state.start_ms + window_ms;
  }
  std::size_t heap_bytes() const { return 0; }
  void Clear() {}
};

// A take of this key alone: looks, and charges if that fits or limited calls count. One step where
// the algorithm has one.
inline void TakeFrom(TokenBucketKey& key, const Limit& limit, Units cost, const MemoryTime& now,
                     LineStatus& status) {
  TakeTokenBucket(limit, key.state, cost, now.us, status);
}
template <typename AnyKey>
void TakeFrom(AnyKey& key, const Limit& limit, Units cost, const MemoryTime& now,
              LineStatus& status) {
  status = key.Look(limit, cost, now);
  key.Heal(limit, now);
  if (status.fit == Fit::kFits || limit.count() == Count::kAll) {
    status = key.Charge(limit, cost, now, status);
  }
}

// What a Slot holds: the algorithm, and which of its two logs a sliding window keeps.
enum class SlotKind : std::uint8_t {
  kSlidingWindow,
  kFixedWindow,
  kTokenBucket,
  kSlidingWindowCounter,
  kWeightedWindow,
};
inline constexpr SlotKind kSlotKinds[] = {SlotKind::kSlidingWindow, SlotKind::kFixedWindow,
                                          SlotKind::kTokenBucket, SlotKind::kSlidingWindowCounter,
                                          SlotKind::kWeightedWindow};

inline SlotKind KindOf(const Limit& limit) {
  return limit.weighted() ? SlotKind::kWeightedWindow : static_cast<SlotKind>(limit.algorithm());
}
static_assert(static_cast<SlotKind>(Algorithm::kSlidingWindow) == SlotKind::kSlidingWindow);
static_assert(static_cast<SlotKind>(Algorithm::kFixedWindow) == SlotKind::kFixedWindow);
static_assert(static_cast<SlotKind>(Algorithm::kTokenBucket) == SlotKind::kTokenBucket);
static_assert(static_cast<SlotKind>(Algorithm::kSlidingWindowCounter) ==
              SlotKind::kSlidingWindowCounter);

// Plain bytes: a table copies slots freely, as long as one of the copies is Cleared in the end.
struct alignas(64) Slot {
 private:
  template <typename Self, typename F>
  static decltype(auto) VisitState(Self& self, F& f) {
    switch (self.kind) {
      case SlotKind::kSlidingWindow:
        return f(self.state.sliding);
      case SlotKind::kFixedWindow:
        return f(self.state.fixed);
      case SlotKind::kTokenBucket:
        return f(self.state.bucket);
      case SlotKind::kSlidingWindowCounter:
        return f(self.state.counter);
      case SlotKind::kWeightedWindow:
        return f(self.state.weighted);
    }
    __builtin_trap();
  }

 public:
  union State {
    State() : fixed() {}
    FixedWindowKey fixed;
    SlidingWindowKey sliding;
    TokenBucketKey bucket;
    SlidingWindowCounterKey counter;
    WeightedWindowKey weighted;
  };

  KeyHash id;
  std::uint32_t units = 0;  // that the limit that was looked at last can hold
  SlotKind kind = SlotKind::kFixedWindow;
  State state;

  // Calls f with the state as what it is.
  template <typename F>
  decltype(auto) Visit(F&& f) {
    return VisitState(*this, f);
  }
  template <typename F>
  decltype(auto) Visit(F&& f) const {
    return VisitState(*this, f);
  }

  // Makes it a key that nothing was charged to.
  void Begin(const KeyHash& name, SlotKind chosen) {
    id = name;
    kind = chosen;
    Visit([](auto& key) { std::construct_at(&key); });
  }
  void Heal(const Limit& limit, const MemoryTime& now) {
    units = static_cast<std::uint32_t>(limit.capacity());
    Visit([&](auto& key) { key.Heal(limit, now); });
  }

  std::int64_t IdleAt() const {
    return Visit([](const auto& key) { return key.IdleAt(); });
  }
  bool IdleBy(std::int64_t now_ms) const {
    if (kind == SlotKind::kTokenBucket) return TokenBucketIdleBy(state.bucket.state, now_ms * 1000);
    return IdleAt() <= now_ms;
  }
  std::int64_t FreeAt() const {
    return Visit([&](const auto& key) { return key.FreeAt(units); });
  }
  std::size_t heap_bytes() const {
    return Visit([](const auto& key) { return key.heap_bytes(); });
  }
  void Clear() {
    Visit([](auto& key) { key.Clear(); });
  }
};

static_assert(sizeof(Slot) == 64);
static_assert(sizeof(Slot::State) == 40);
static_assert(std::is_trivially_copyable_v<Slot>);

}  // namespace brim

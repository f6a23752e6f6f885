// One key of the embedded store: its name, its limit and its state, in one cache line.
//
// Each algorithm is one struct below, with the same members; a Slot holds one of them, and Visit is
// the one place that tells which. Another algorithm is another struct (up to 40 bytes; the units of
// the limit are the Slot's), a member of Slot::State and a case in Visit.
#pragma once

#include <brim/store.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "algorithm/fixed_window.h"
#include "algorithm/sliding_window.h"
#include "store/memory_hash.h"
#include "store/time_log.h"

namespace brim {

inline std::int64_t WholeMs(Micros duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// Times are the store's ms. Look and Charge are those of src/algorithm. IdleAt: from when on the
// key is full again and may be forgotten. FreeAt: from when on a unit fits under a limit of
// `units`; 0 if one fits at any time. Adopt: the limit that was looked at last, in so far as the
// state needs it.
struct FixedWindowKey {
  FixedWindowState state;

  void Adopt(const Limit& limit, std::int64_t now_ms) { HealFixedWindow(limit, state, now_ms); }
  LineStatus Look(const Limit& limit, Units cost, std::int64_t now_ms) const {
    return LookFixedWindow(limit, state, cost, now_ms);
  }
  LineStatus Charge(const Limit& limit, Units cost, std::int64_t now_ms, const LineStatus& look) {
    return ChargeFixedWindow(limit, state, cost, now_ms, look);
  }
  std::int64_t IdleAt() const { return FixedWindowIdleAt(state); }
  std::int64_t FreeAt(Units units) const { return state.used < units ? 0 : state.end_ms; }
  std::size_t heap_bytes() const { return 0; }
  void Clear() {}
};

struct SlidingWindowKey {
  std::int64_t window_ms = 0;
  TimeLog log;

  void Adopt(const Limit& limit, std::int64_t /*now_ms*/) { window_ms = WholeMs(limit.window()); }
  LineStatus Look(const Limit& limit, Units cost, std::int64_t now_ms) const {
    return LookSlidingWindow(limit, log, cost, now_ms);
  }
  LineStatus Charge(const Limit& limit, Units cost, std::int64_t now_ms, const LineStatus& look) {
    const auto live = static_cast<std::size_t>(look.used);
    log.DropOldest(log.size() - live);
    log.Reserve(live + static_cast<std::size_t>(cost), static_cast<std::size_t>(limit.units()));
    return ChargeSlidingWindow(limit, log, cost, now_ms, look);
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

// Plain bytes: a table copies slots freely, as long as one of the copies is Cleared in the end.
struct alignas(64) Slot {
 private:
  template <typename Self, typename F>
  static decltype(auto) VisitState(Self& self, F& f) {
    switch (self.algorithm) {
      case Algorithm::kSlidingWindow:
        return f(self.state.sliding);
      case Algorithm::kFixedWindow:
        return f(self.state.fixed);
    }
    __builtin_trap();
  }

 public:
  union State {
    State() : fixed() {}
    FixedWindowKey fixed;
    SlidingWindowKey sliding;
  };

  KeyHash id;
  std::uint32_t units = 0;  // of the limit that was looked at last
  bool taken = false;       // false: no key is here
  Algorithm algorithm = Algorithm::kFixedWindow;
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
  void Begin(const KeyHash& name, Algorithm chosen) {
    id = name;
    taken = true;
    algorithm = chosen;
    Visit([](auto& key) { std::construct_at(&key); });
  }
  void Adopt(const Limit& limit, std::int64_t now_ms) {
    units = static_cast<std::uint32_t>(limit.units());
    Visit([&](auto& key) { key.Adopt(limit, now_ms); });
  }

  std::int64_t IdleAt() const {
    return Visit([](const auto& key) { return key.IdleAt(); });
  }
  std::int64_t FreeAt() const {
    return Visit([&](const auto& key) { return key.FreeAt(units); });
  }
  std::size_t heap_bytes() const {
    return Visit([](const auto& key) { return key.heap_bytes(); });
  }
  void Clear() {
    Visit([](auto& key) { key.Clear(); });
    taken = false;
  }
};

// Every value of Algorithm.
inline constexpr Algorithm kAlgorithms[] = {Algorithm::kSlidingWindow, Algorithm::kFixedWindow};

static_assert(sizeof(Slot) == 64);
static_assert(sizeof(Slot::State) == 40);
static_assert(std::is_trivially_copyable_v<Slot>);

}  // namespace brim

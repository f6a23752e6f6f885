// Sliding-window log of costs (a `weighted` limit): as sliding_window.h, but one entry a call,
// whatever it cost. Each entry knows the running sum of costs up to it, so what a window holds is
// the difference of two sums, found by binary search: O(log n).
//
// Its Lua twin is store/lua/weighted_window.lua: one commit changes both. Time is whole
// milliseconds.
#pragma once

#include <brim/limit.h>
#include <brim/store.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace brim {

// What the algorithm needs of a log: entries in order of time, oldest first, of cost >= 1 each.
template <typename Log>
concept CostLogLike = requires(Log log, const Log& view, std::size_t n, std::int64_t ms) {
  { view.size() } -> std::convertible_to<std::size_t>;
  { view.TimeOf(n) } -> std::convertible_to<std::int64_t>;
  {
    view.SumUpTo(n)
  } -> std::convertible_to<std::int64_t>;  // costs of entries 0 ... n, and older ones
  { view.SumBefore(n) } -> std::convertible_to<std::int64_t>;
  { view.CountUpTo(ms) } -> std::convertible_to<std::size_t>;  // entries with time <= ms
  log.DropOldest(n);
  log.Append(ms, Units{1});
  log.TakeFromOldest(Units{1});  // REQUIRES: less than the oldest entry's cost
};

// How `cost` stands to the limit now. Pure: changes nothing. REQUIRES: cost >= 1.
template <CostLogLike Log>
LineStatus LookWeightedWindow(const Limit& limit, const Log& log, Units cost, std::int64_t now_ms) {
  using std::chrono::milliseconds;
  const std::int64_t window_ms = std::chrono::duration_cast<milliseconds>(limit.window()).count();
  LineStatus status;
  const std::size_t size = log.size();
  std::size_t expired = 0;
  if (size != 0) {
    now_ms = std::max(now_ms, log.TimeOf(size - 1));
    expired = log.CountUpTo(now_ms - window_ms);
    if (expired != size) {
      status.used = log.SumUpTo(size - 1) - log.SumBefore(expired);
      status.reset_after = milliseconds(log.TimeOf(size - 1) + window_ms - now_ms);
    }
  }
  status.remaining = std::max<Units>(0, limit.units() - status.used);
  if (cost > limit.units()) {
    status.fit = Fit::kNever;
    status.retry_after = kNever;
  } else if (cost > limit.units() - status.used) {
    // The first entry whose leaving, with all older ones, makes room.
    const std::int64_t enough = log.SumUpTo(size - 1) + cost - limit.units();
    std::size_t first = expired;
    for (std::size_t last = size - 1; first < last;) {
      const std::size_t middle = first + (last - first) / 2;
      if (log.SumUpTo(middle) >= enough) {
        last = middle;
      } else {
        first = middle + 1;
      }
    }
    status.fit = Fit::kOver;
    status.retry_after = milliseconds(log.TimeOf(first) + window_ms - now_ms);
  } else {
    status.fit = Fit::kFits;
  }
  return status;
}

// Drops what is out of the window, adds the entry, and tells how the key stands after it; fit is
// that of `look`, the answer before the charge.
template <CostLogLike Log>
LineStatus ChargeWeightedWindow(const Limit& limit, Log& log, Units cost, std::int64_t now_ms,
                                const LineStatus& look) {
  using std::chrono::milliseconds;
  if (log.size() != 0) now_ms = std::max(now_ms, log.TimeOf(log.size() - 1));
  log.DropOldest(
      log.CountUpTo(now_ms - std::chrono::duration_cast<milliseconds>(limit.window()).count()));
  log.Append(now_ms, cost);
  LineStatus status = look;
  status.used += cost;
  status.remaining = std::max<Units>(0, limit.units() - status.used);
  status.reset_after = limit.window();
  return status;
}

// Gives back `cost`, the oldest units first, at most what is in the window.
template <CostLogLike Log>
void RefundWeightedWindow(const Limit& limit, Log& log, Units cost, std::int64_t now_ms) {
  using std::chrono::milliseconds;
  if (log.size() != 0) now_ms = std::max(now_ms, log.TimeOf(log.size() - 1));
  log.DropOldest(
      log.CountUpTo(now_ms - std::chrono::duration_cast<milliseconds>(limit.window()).count()));
  while (cost > 0 && log.size() != 0) {
    const Units oldest = log.SumUpTo(0) - log.SumBefore(0);
    if (oldest > cost) return log.TakeFromOldest(cost);
    log.DropOldest(1);
    cost -= oldest;
  }
}

}  // namespace brim

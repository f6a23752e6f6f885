// Sliding-window log of costs (a `weighted` limit): as sliding_window.h, but one entry a call,
// whatever it cost. Each entry knows the running sum of costs up to it, so what a window holds is
// the difference of two sums, found by binary search: O(log n).
//
// Its Lua twin is store/lua/weighted_window.lua: one commit changes both. Time is whole
// milliseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <brim/limit.h>
#include <brim/store.h>
#include "algorithm/line_status.h"
#include "base/rounding.h"

namespace brim {

// What the algorithm needs of a log: entries in order of time, oldest first, of cost >= 1 each.
template <typename Log>
concept WeightedLog = requires(Log log, const Log& view, std::size_t n, std::int64_t ms) {
  { view.size() } -> std::convertible_to<std::size_t>;
  { view.TimeOf(n) } -> std::convertible_to<std::int64_t>;
  // The costs of entries 0 ... n, or 0 ... n - 1, and of those that have left before them.
  { view.SumUpTo(n) } -> std::convertible_to<std::int64_t>;
  { view.SumBefore(n) } -> std::convertible_to<std::int64_t>;
  { view.CountUpTo(ms) } -> std::convertible_to<std::size_t>;  // entries with time <= ms
  log.DropOldest(n);
  log.Append(ms, Units{1});
  log.TakeFromOldest(Units{1});  // REQUIRES: less than the oldest entry's cost
};

// The first live entry whose leaving, with all older ones, makes room. REQUIRES: `cost` is over
// now.
template <WeightedLog Log>
std::size_t FirstToMakeRoom(const Limit& limit, const Log& log, std::size_t expired, Units cost) {
  std::size_t first = expired;
  std::size_t last = log.size() - 1;
  const std::int64_t enough = log.SumUpTo(last) + cost - limit.units();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (log.SumUpTo(middle) >= enough) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

// How `cost` stands to the limit now. Pure: changes nothing. REQUIRES: cost >= 1.
template <WeightedLog Log>
LineStatus LookWeightedWindow(const Limit& limit, const Log& log, Units cost, std::int64_t now_ms) {
  using std::chrono::milliseconds;
  if (log.size() == 0) return StatusOf(limit, 0, cost);
  const std::int64_t window_ms = WholeMs(limit.window());
  const std::size_t newest = log.size() - 1;
  now_ms = std::max(now_ms, log.TimeOf(newest));
  const std::size_t expired = log.CountUpTo(now_ms - window_ms);
  if (expired > newest) return StatusOf(limit, 0, cost);
  LineStatus status = StatusOf(limit, log.SumUpTo(newest) - log.SumBefore(expired), cost);
  status.reset_after = milliseconds(log.TimeOf(newest) + window_ms - now_ms);
  if (status.fit == Fit::kOver) {
    const std::size_t first = FirstToMakeRoom(limit, log, expired, cost);
    status.retry_after = milliseconds(log.TimeOf(first) + window_ms - now_ms);
  }
  return status;
}

// Drops what is out of the window; tells what time it is for this log, which never steps back.
template <WeightedLog Log>
std::int64_t DropExpired(const Limit& limit, Log& log, std::int64_t now_ms) {
  if (log.size() != 0) now_ms = std::max(now_ms, log.TimeOf(log.size() - 1));
  log.DropOldest(log.CountUpTo(now_ms - WholeMs(limit.window())));
  return now_ms;
}

// Drops what is out of the window, adds the entry, and tells how the key stands after it; fit is
// that of `look`, the answer before the charge.
template <WeightedLog Log>
LineStatus ChargeWeightedWindow(const Limit& limit, Log& log, Units cost, std::int64_t now_ms,
                                const LineStatus& look) {
  log.Append(DropExpired(limit, log, now_ms), cost);
  LineStatus status = look;
  SetUsed(limit, look.used + cost, status);
  status.reset_after = limit.window();
  return status;
}

// Gives back `cost`, the oldest units first, at most what is in the window.
template <WeightedLog Log>
void RefundWeightedWindow(const Limit& limit, Log& log, Units cost, std::int64_t now_ms) {
  DropExpired(limit, log, now_ms);
  while (cost > 0 && log.size() != 0) {
    const Units oldest = log.SumUpTo(0) - log.SumBefore(0);
    if (oldest > cost) return log.TakeFromOldest(cost);
    log.DropOldest(1);
    cost -= oldest;
  }
}

}  // namespace brim

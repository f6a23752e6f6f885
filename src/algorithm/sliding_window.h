// Sliding-window log: the time of every admitted unit, and the exact promise that follows: in no
// span of one window length are more than `units` admitted. It costs one entry a unit.
//
// An entry whose age equals the window is out. Its Lua twin is store/lua/sliding_window.lua: one
// commit changes both. Time is whole milliseconds, as in the scores of a Redis sorted set. Should
// time step back, then `now` is the newest time in the log, for counting and for retry_after alike.
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

// What the algorithm needs of a log: times in ms, oldest first, none smaller than the one before.
template <typename Log>
concept SlidingLog = requires(Log log, const Log& view, std::size_t n, std::int64_t ms) {
  { view.size() } -> std::convertible_to<std::size_t>;
  { view[n] } -> std::convertible_to<std::int64_t>;
  { view.CountUpTo(ms) } -> std::convertible_to<std::size_t>;  // entries with time <= ms
  log.DropOldest(n);
  log.Append(ms, n);  // n entries at `ms`
};

// How `cost` stands to the limit now. Pure: changes nothing. REQUIRES: cost >= 1.
template <SlidingLog Log>
LineStatus LookSlidingWindow(const Limit& limit, const Log& log, Units cost, std::int64_t now_ms) {
  using std::chrono::milliseconds;
  if (log.size() == 0) return StatusOf(limit, 0, cost);
  const std::int64_t window_ms = WholeMs(limit.window());
  const std::int64_t newest = log[log.size() - 1];
  now_ms = std::max(now_ms, newest);
  const std::size_t expired = log.CountUpTo(now_ms - window_ms);
  const auto used = static_cast<Units>(log.size() - expired);
  LineStatus status = StatusOf(limit, used, cost);
  if (used != 0) status.reset_after = milliseconds(newest + window_ms - now_ms);
  if (status.fit == Fit::kOver) {
    // It fits once the live entry of this rank (0 is the oldest) has left the window.
    const auto rank = static_cast<std::size_t>(used - limit.units() + cost - 1);
    status.retry_after = milliseconds(log[expired + rank] + window_ms - now_ms);
  }
  return status;
}

// Drops what is out of the window, adds `cost` entries, and tells how the key stands after it.
// Past the limit too: fit is that of `look`, the answer before the charge for the same arguments.
template <SlidingLog Log>
LineStatus ChargeSlidingWindow(const Limit& limit, Log& log, Units cost, std::int64_t now_ms,
                               const LineStatus& look) {
  if (log.size() != 0) now_ms = std::max(now_ms, log[log.size() - 1]);
  log.DropOldest(log.size() - static_cast<std::size_t>(look.used));
  log.Append(now_ms, static_cast<std::size_t>(cost));
  LineStatus status = look;
  SetUsed(limit, look.used + cost, status);
  status.reset_after = limit.window();
  return status;
}

}  // namespace brim

// Sliding-window log: the time of every admitted unit, and the exact promise that follows: in no
// span of one window length are more than `units` admitted. It costs one entry a unit.
//
// An entry whose age equals the window is out. Its Lua twin is store/lua/sliding_window.lua: one
// commit changes both. Time is whole milliseconds, as in the scores of a Redis sorted set. Should
// time step back, then `now` is the newest time in the log, for counting and for retry_after alike.
#pragma once

#include <brim/limit.h>
#include <brim/store.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>

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
  const std::int64_t window_ms = std::chrono::duration_cast<milliseconds>(limit.window()).count();
  LineStatus status;
  std::size_t expired = 0;
  if (log.size() != 0) {
    now_ms = std::max(now_ms, log[log.size() - 1]);
    expired = log.CountUpTo(now_ms - window_ms);
    status.used = static_cast<Units>(log.size() - expired);
  }
  status.remaining = std::max<Units>(0, limit.units() - status.used);
  if (status.used != 0) status.reset_after = milliseconds(log[log.size() - 1] + window_ms - now_ms);
  if (cost > limit.units()) {
    status.fit = Fit::kNever;
    status.retry_after = kNever;
  } else if (cost > limit.units() - status.used) {
    // It fits once the live entry of this rank (0 is the oldest) has left the window.
    const Units rank = status.used - limit.units() + cost - 1;
    status.fit = Fit::kOver;
    status.retry_after =
        milliseconds(log[expired + static_cast<std::size_t>(rank)] + window_ms - now_ms);
  } else {
    status.fit = Fit::kFits;
  }
  return status;
}

// Drops what is out of the window, adds `cost` entries, and tells how the key stands after it.
// REQUIRES: `look` is the answer for the same arguments, and it fits.
template <SlidingLog Log>
LineStatus ChargeSlidingWindow(const Limit& limit, Log& log, Units cost, std::int64_t now_ms,
                               const LineStatus& look) {
  if (log.size() != 0) now_ms = std::max(now_ms, log[log.size() - 1]);
  log.DropOldest(log.size() - static_cast<std::size_t>(look.used));
  log.Append(now_ms, static_cast<std::size_t>(cost));
  LineStatus status = look;
  status.used += cost;
  status.remaining = std::max<Units>(0, limit.units() - status.used);
  status.reset_after = limit.window();
  return status;
}

}  // namespace brim

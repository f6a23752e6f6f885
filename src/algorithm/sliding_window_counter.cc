#include "algorithm/sliding_window_counter.h"

#include <algorithm>
#include <chrono>

#include "algorithm/line_status.h"
#include "base/rounding.h"

namespace brim {
namespace {

using std::chrono::milliseconds;

// The two windows that matter now. Time that stepped back stands still.
SlidingWindowCounterState Current(const SlidingWindowCounterState& state, std::int64_t window_ms,
                                  std::int64_t now_ms, std::int64_t wall_offset_ms) {
  const std::int64_t start = now_ms - (now_ms + wall_offset_ms) % window_ms;
  if (state.current == 0 && state.previous == 0) return {start, 0, 0};
  if (start <= state.start_ms) return state;
  if (start == state.start_ms + window_ms) return {start, 0, state.current};
  return {start, 0, 0};
}

Units Used(const SlidingWindowCounterState& state, std::int64_t window_ms, std::int64_t now_ms) {
  const std::int64_t left = window_ms - (now_ms - state.start_ms);
  return state.current + DivideUp(state.previous * left, window_ms);
}

// The first ms at which `cost` fits. Within a window the previous share only falls, to 0 at its
// end; there the current count becomes the previous one.
std::int64_t FitsAt(const Limit& limit, const SlidingWindowCounterState& state,
                    std::int64_t window_ms, Units cost) {
  const auto share_falls_to = [window_ms](Units room, Units previous) {
    return window_ms - std::min(window_ms, room * window_ms / std::max<Units>(1, previous));
  };
  const Units room = limit.units() - cost - state.current;
  if (room >= 0) return state.start_ms + share_falls_to(room, state.previous);
  return state.start_ms + window_ms + share_falls_to(limit.units() - cost, state.current);
}

Micros ResetAfter(const SlidingWindowCounterState& state, std::int64_t window_ms,
                  std::int64_t now_ms) {
  return milliseconds(
      std::max<std::int64_t>(0, SlidingWindowCounterIdleAt(state, window_ms) - now_ms));
}

}  // namespace

LineStatus LookSlidingWindowCounter(const Limit& limit, const SlidingWindowCounterState& state,
                                    Units cost, std::int64_t now_ms, std::int64_t wall_offset_ms) {
  const std::int64_t window_ms = WholeMs(limit.window());
  const SlidingWindowCounterState current = Current(state, window_ms, now_ms, wall_offset_ms);
  now_ms = std::max(now_ms, current.start_ms);
  LineStatus status = StatusOf(limit, Used(current, window_ms, now_ms), cost);
  status.reset_after = ResetAfter(current, window_ms, now_ms);
  if (status.fit == Fit::kOver) {
    status.retry_after = milliseconds(FitsAt(limit, current, window_ms, cost) - now_ms);
  }
  return status;
}

LineStatus ChargeSlidingWindowCounter(const Limit& limit, SlidingWindowCounterState& state,
                                      Units cost, std::int64_t now_ms, std::int64_t wall_offset_ms,
                                      const LineStatus& look) {
  const std::int64_t window_ms = WholeMs(limit.window());
  state = Current(state, window_ms, now_ms, wall_offset_ms);
  now_ms = std::max(now_ms, state.start_ms);
  // Far past every limit the count ends, so that its share stays below 2^53.
  state.current = std::min(state.current + cost, kMaxExact / window_ms);
  LineStatus status = look;
  SetUsed(limit, Used(state, window_ms, now_ms), status);
  status.reset_after = ResetAfter(state, window_ms, now_ms);
  return status;
}

void RefundSlidingWindowCounter(const Limit& limit, SlidingWindowCounterState& state, Units cost,
                                std::int64_t now_ms, std::int64_t wall_offset_ms,
                                const std::int64_t* stamp) {
  state = Current(state, WholeMs(limit.window()), now_ms, wall_offset_ms);
  if (stamp != nullptr && *stamp != state.start_ms) return;
  const Units from_previous = stamp == nullptr ? std::min(cost, state.previous) : 0;
  state.previous -= from_previous;
  state.current -= std::min(cost - from_previous, state.current);
}

std::int64_t SlidingWindowCounterIdleAt(const SlidingWindowCounterState& state,
                                        std::int64_t window_ms) {
  if (state.current > 0) return state.start_ms + 2 * window_ms;
  return state.previous > 0 ? state.start_ms + window_ms : 0;
}

}  // namespace brim

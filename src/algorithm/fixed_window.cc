#include "algorithm/fixed_window.h"

#include <algorithm>
#include <chrono>

#include "algorithm/line_status.h"
#include "base/rounding.h"

namespace brim {
namespace {

using std::chrono::milliseconds;

// The window that runs at `now_ms`, or a fresh one. A window that ends later than a whole window
// from now is one whose limit was shortened (a plain key does not name its window), or whose clock
// stepped back: it ends one window from now.
FixedWindowState Current(const Limit& limit, const FixedWindowState& state, std::int64_t now_ms) {
  if (state.used == 0 || state.end_ms <= now_ms) return {};
  return {.end_ms = std::min(state.end_ms, now_ms + WholeMs(limit.window())), .used = state.used};
}

// The end of a window that begins now, or, aligned, of the one that runs now.
std::int64_t EndOfFresh(const Limit& limit, std::int64_t now_ms, std::int64_t wall_offset_ms) {
  const std::int64_t window_ms = WholeMs(limit.window());
  if (limit.anchor() == Anchor::kFirstHit) return now_ms + window_ms;
  return now_ms + window_ms - (now_ms + wall_offset_ms) % window_ms;
}

}  // namespace

LineStatus LookFixedWindow(const Limit& limit, const FixedWindowState& state, Units cost,
                           std::int64_t now_ms) {
  const FixedWindowState current = Current(limit, state, now_ms);
  LineStatus status = StatusOf(limit, current.used, cost);
  if (current.used != 0) status.reset_after = milliseconds(current.end_ms - now_ms);
  if (status.fit == Fit::kOver) status.retry_after = status.reset_after;
  return status;
}

LineStatus ChargeFixedWindow(const Limit& limit, FixedWindowState& state, Units cost,
                             std::int64_t now_ms, std::int64_t wall_offset_ms,
                             const LineStatus& look) {
  state = Current(limit, state, now_ms);
  if (state.used == 0) state.end_ms = EndOfFresh(limit, now_ms, wall_offset_ms);
  state.used += cost;
  LineStatus status = look;
  SetUsed(limit, state.used, status);
  status.reset_after = milliseconds(state.end_ms - now_ms);
  if (status.fit == Fit::kOver) status.retry_after = status.reset_after;
  return status;
}

void RefundFixedWindow(const Limit& limit, FixedWindowState& state, Units cost,
                       std::int64_t now_ms) {
  state = Current(limit, state, now_ms);
  state.used -= std::min(cost, state.used);
}

void HealFixedWindow(const Limit& limit, FixedWindowState& state, std::int64_t now_ms) {
  state = Current(limit, state, now_ms);
}

}  // namespace brim

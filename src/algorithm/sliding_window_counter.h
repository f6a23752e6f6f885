// Sliding-window counter: two counters of windows that are aligned to the epoch. What the previous
// window counted is taken as spread evenly over it, so the share of it that still lies within one
// window length counts, rounded up. Constant memory, and approximate: units that came at the end of
// the previous window are counted as if they had come earlier. In the worst case nearly twice the
// limit passes within one window length; with steady traffic it is within a few percent of the log.
//
// Its Lua twin is store/lua/sliding_window_counter.lua: one commit changes both. Time is whole
// milliseconds. Limit::Create sees to units * window_ms <= 2^53.
// Source: the "sliding window counter" of Cloudflare's rate limiting (2017), in integers.
#pragma once

#include <cstdint>

#include <brim/limit.h>
#include <brim/store.h>

namespace brim {

// A plain value; no units: nothing counts. `start_ms` is the store's time at which the current
// window began.
struct SlidingWindowCounterState {
  std::int64_t start_ms = 0;
  Units current = 0;
  Units previous = 0;  // of the window before
};

// In all below `wall_offset_ms` is what makes the store's time wall time: windows are aligned to
// the epoch.

// How `cost` stands to the limit now. Pure: changes nothing. REQUIRES: cost >= 1.
LineStatus LookSlidingWindowCounter(const Limit& limit, const SlidingWindowCounterState& state,
                                    Units cost, std::int64_t now_ms, std::int64_t wall_offset_ms);

// Adds `cost`, past the limit too, and tells how the key stands after it; fit is that of `look`.
LineStatus ChargeSlidingWindowCounter(const Limit& limit, SlidingWindowCounterState& state,
                                      Units cost, std::int64_t now_ms, std::int64_t wall_offset_ms,
                                      const LineStatus& look);

// Gives back `cost`: the previous window's units first, then the current one's, at most all. With
// the stamp of a charge (the start_ms after it): nothing but the current window's units, if it
// still runs.
void RefundSlidingWindowCounter(const Limit& limit, SlidingWindowCounterState& state, Units cost,
                                std::int64_t now_ms, std::int64_t wall_offset_ms,
                                const std::int64_t* stamp);

// When the key is full again and may be forgotten, in the store's ms.
std::int64_t SlidingWindowCounterIdleAt(const SlidingWindowCounterState& state,
                                        std::int64_t window_ms);

}  // namespace brim

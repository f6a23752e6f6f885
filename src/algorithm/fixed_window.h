// Fixed window: one counter for each window. The cheapest algorithm (a counter and a time), and the
// loosest: around the edge of two windows up to twice the limit can pass within one window length.
//
// With Anchor::kFirstHit a window begins with the first unit that is charged to it, and later units
// do not move it. Its Lua twin is store/lua/fixed_window.lua: one commit changes both.
// Time is whole milliseconds, as in Redis, where the end of the window is the key's TTL.
#pragma once

#include <cstdint>

#include <brim/limit.h>
#include <brim/store.h>

namespace brim {

// A plain value. `end_ms` is the store's time in ms at which the window is over; the window runs
// while now_ms < end_ms. All zero: nothing was ever charged.
struct FixedWindowState {
  std::int64_t end_ms = 0;
  Units used = 0;
};

// How `cost` stands to the limit now. Pure: changes nothing. REQUIRES: cost >= 1.
LineStatus LookFixedWindow(const Limit& limit, const FixedWindowState& state, Units cost,
                           std::int64_t now_ms);

// Adds `cost`, past the limit too, and tells how the key stands after it; fit is that of `look`,
// the answer before the charge. `wall_offset_ms` is what makes the store's time wall time, for
// aligned windows.
LineStatus ChargeFixedWindow(const Limit& limit, FixedWindowState& state, Units cost,
                             std::int64_t now_ms, std::int64_t wall_offset_ms,
                             const LineStatus& look);

// Gives back `cost`, at most what was used.
void RefundFixedWindow(const Limit& limit, FixedWindowState& state, Units cost,
                       std::int64_t now_ms);

// What a refused check may do: bring a window that ends too late back to one window from now.
void HealFixedWindow(const Limit& limit, FixedWindowState& state, std::int64_t now_ms);

// When the key is full again and may be forgotten, in the store's ms.
inline std::int64_t FixedWindowIdleAt(const FixedWindowState& state) { return state.end_ms; }

}  // namespace brim

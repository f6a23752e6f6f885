// Integer arithmetic that says in its name how it rounds, and the bound up to which it is exact.
#pragma once

#include <cstdint>

#include <brim/clock.h>

namespace brim {

// Up to here a double, all that Lua has, holds every integer. What has to come out the same in C++
// and in Lua stays within it.
inline constexpr std::int64_t kMaxExact = std::int64_t{1} << 53;

// REQUIRES: value >= 0, by > 0.
constexpr std::int64_t DivideUp(std::int64_t value, std::int64_t by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

// Rounded down. REQUIRES: not negative.
constexpr std::int64_t WholeMs(Micros duration) { return duration.count() / 1000; }

}  // namespace brim

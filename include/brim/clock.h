// Time as brim sees it: passed in, never asked of the system in the middle of the work.
#pragma once

#include <chrono>

namespace brim {

using Micros = std::chrono::microseconds;
// Monotonic; meaningful in this process only.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Micros>;
// Wall time; may jump. Only for windows that people or several hosts share.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Micros>;

// The time source of a MemoryStore. Tests (ours and our users') drive a ManualClock
// (<brim/testing.h>) instead. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() const = 0;       // never goes backwards
  virtual WallTime WallNow() const = 0;  // may jump
};

// The machine's own clocks. Has no state: every SystemClock tells the same time. Thread-safe.
class SystemClock final : public Clock {
 public:
  Instant Now() const override;
  WallTime WallNow() const override;
};

// A SystemClock that outlives everything, for those who are handed no other clock.
const Clock& DefaultClock();

}  // namespace brim

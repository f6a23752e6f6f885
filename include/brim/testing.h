// For tests, brim's and yours: a clock that moves only when told to, so that no test sleeps.
#pragma once

#include <atomic>
#include <chrono>

#include <brim/clock.h>

namespace brim {

// Starts at one hour of monotonic time and at 2026-01-01 00:00:00 UTC. Thread-safe.
//
//   brim::ManualClock clock;
//   brim::MemoryStore store({.clock = &clock});
//   clock.Advance(61s);
class ManualClock final : public Clock {
 public:
  ManualClock() = default;

  Instant Now() const override { return Instant(Micros(now_.load())); }
  WallTime WallNow() const override { return WallTime(Micros(wall_.load())); }

  // Both times go forward together. REQUIRES: step >= 0.
  void Advance(Micros step) {
    now_ += step.count();
    wall_ += step.count();
  }
  // The wall clock alone is set, forward or back, as an operator or NTP would.
  void ShiftWallTime(Micros step) { wall_ += step.count(); }

 private:
  std::atomic<Micros::rep> now_ = Micros(std::chrono::hours(1)).count();
  std::atomic<Micros::rep> wall_ = Micros(std::chrono::seconds(1'767'225'600)).count();
};

}  // namespace brim

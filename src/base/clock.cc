#include <brim/clock.h>

namespace brim {

Instant SystemClock::Now() const {
  return std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now());
}

WallTime SystemClock::WallNow() const {
  return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}

const Clock& DefaultClock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace brim

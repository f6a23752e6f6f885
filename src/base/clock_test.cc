#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <brim/clock.h>

namespace brim {
namespace {

using namespace std::chrono_literals;

Instant Kernel() { return std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now()); }

// Long enough that the counter's rate is learnt on the way.
TEST(SystemClockTest, TellsTheKernelsTimeAndNeverGoesBack) {
  const SystemClock clock;
  const Instant end = Kernel() + 100ms;
  Instant last = clock.Now();
  for (Instant before = Kernel(); before < end; before = Kernel()) {
    const Instant now = clock.Now();
    const Instant after = Kernel();
    ASSERT_GE(now, last);
    ASSERT_GE(now, before - 1ms);
    ASSERT_LE(now, after + 1ms);
    last = now;
  }
}

TEST(SystemClockTest, ThreadsAgreeWithinTheStatedBound) {
  const SystemClock clock;
  std::vector<std::jthread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&clock] {
      for (int i = 0; i < 20'000; ++i) {
        const Instant before = Kernel();
        const Instant now = clock.Now();
        ASSERT_GE(now, before - 1ms);
        ASSERT_LE(now, Kernel() + 1ms);
      }
    });
  }
}

}  // namespace
}  // namespace brim

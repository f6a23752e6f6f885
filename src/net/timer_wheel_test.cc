#include "net/timer_wheel.h"

#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace brim::net {
namespace {

using std::chrono::milliseconds;
using Time = TimerWheel::Time;

const Time kStart = Time(std::chrono::hours(1));

struct Timer : TimerWheel::Entry {
  int fired = 0;
  std::function<void()> then = [] {};
  void OnTimer() override {
    ++fired;
    then();
  }
};

TEST(TimerWheelTest, FiresOnceAtTheDeadlineAndNotBefore) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.Set(timer, kStart + milliseconds(300));
  wheel.Advance(kStart + milliseconds(299));
  EXPECT_EQ(timer.fired, 0);
  wheel.Advance(kStart + milliseconds(300));
  EXPECT_EQ(timer.fired, 1);
  wheel.Advance(kStart + std::chrono::hours(1));
  EXPECT_EQ(timer.fired, 1);
}

TEST(TimerWheelTest, ADeadlineMovesBothWays) {
  TimerWheel wheel(kStart);
  Timer later, earlier, never;
  for (Timer* timer : {&later, &earlier, &never}) wheel.Set(*timer, kStart + milliseconds(500));
  wheel.Set(later, kStart + milliseconds(900));
  wheel.Set(earlier, kStart + milliseconds(200));
  wheel.Set(never, TimerWheel::kNever);
  wheel.Advance(kStart + milliseconds(200));
  EXPECT_EQ(earlier.fired, 1);
  wheel.Advance(kStart + milliseconds(899));
  EXPECT_EQ(later.fired, 0);
  wheel.Advance(kStart + milliseconds(900));
  EXPECT_EQ(later.fired, 1);
  wheel.Advance(kStart + std::chrono::hours(24));
  EXPECT_EQ(never.fired, 0);
}

TEST(TimerWheelTest, APastDeadlineFiresInTheNextTick) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.Advance(kStart + milliseconds(1000));
  wheel.Set(timer, kStart);
  wheel.Advance(kStart + milliseconds(1100));
  EXPECT_EQ(timer.fired, 1);
}

TEST(TimerWheelTest, ATimerMaySetItselfAgainAndRemoveOthers) {
  TimerWheel wheel(kStart);
  Timer first, second;
  first.then = [&] {
    wheel.Remove(second);
    wheel.Set(first, wheel.now() + milliseconds(100));
  };
  wheel.Set(first, kStart + milliseconds(100));
  wheel.Set(second, kStart + milliseconds(100));
  wheel.Advance(kStart + milliseconds(100));
  wheel.Advance(kStart + milliseconds(200));
  EXPECT_EQ(first.fired, 2);
  EXPECT_EQ(second.fired, 0);
}

TEST(TimerWheelTest, ADestroyedTimerLeavesAndMayOutliveTheWheel) {
  Timer outlives;
  TimerWheel wheel(kStart);
  {
    Timer leaves;
    wheel.Set(leaves, kStart + milliseconds(100));
  }
  wheel.Set(outlives, kStart + milliseconds(100'000));
  wheel.Advance(kStart + milliseconds(500));
  EXPECT_EQ(outlives.fired, 0);
}

// Random deadlines, up to several rounds ahead, moved at random: each fires in its tick.
TEST(TimerWheelTest, FiresInItsTickWhateverWasSetBefore) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  TimerWheel wheel(kStart);
  std::vector<Timer> timers(50);
  std::vector<Time> deadlines(timers.size(), TimerWheel::kNever);
  Time now = kStart;
  for (int step = 0; step < 5000; ++step) {
    const std::size_t which = random() % timers.size();
    deadlines[which] = now + milliseconds(1 + random() % 200'000);
    wheel.Set(timers[which], deadlines[which]);
    now += milliseconds(random() % 1000);
    wheel.Advance(now);
    for (std::size_t i = 0; i < timers.size(); ++i) {
      if (timers[i].fired != 0) {
        ASSERT_LE(deadlines[i], now);
        timers[i].fired = 0;
        deadlines[i] = TimerWheel::kNever;
      } else {
        ASSERT_GT(deadlines[i], now - TimerWheel::kTick);
      }
    }
  }
}

}  // namespace
}  // namespace brim::net

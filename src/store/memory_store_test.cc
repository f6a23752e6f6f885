#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include <brim/memory_store.h>
#include "store/memory_store_testing.h"

namespace brim {
namespace {

using namespace std::chrono_literals;
using Fit::kFits;
using Fit::kNotLookedAt;
using Fit::kOver;

// A step is: at, cost -> fit, used, remaining, retry_after, reset_after.
struct Step {
  Micros at;
  Units cost;
  Fit fit;
  Units used;
  Units remaining;
  Micros retry_after;
  Micros reset_after;
};

struct Script {
  const char* name;
  Limit limit;
  std::vector<Step> steps;
};

const Script kScripts[] = {
    {"SlidingFreesOneByOne",
     Sliding(2, 1s),
     {{0ms, 1, kFits, 1, 1, 0ms, 1s},
      {400ms, 1, kFits, 2, 0, 0ms, 1s},
      {999ms, 1, kOver, 2, 0, 1ms, 401ms},
      {1000ms, 1, kFits, 2, 0, 0ms, 1s},  // an entry whose age equals the window is out
      {1399ms, 1, kOver, 2, 0, 1ms, 601ms},
      {1400ms, 1, kFits, 2, 0, 0ms, 1s}}},
    {"SlidingFloorsToMilliseconds",
     Sliding(1, 1s),
     {{999us, 1, kFits, 1, 0, 0ms, 1s},
      {999999us, 1, kOver, 1, 0, 1ms, 1ms},
      {1000ms, 1, kFits, 1, 0, 0ms, 1s}}},
    {"SlidingRetryIsForThisCost",
     Sliding(3, 1s),
     {{0ms, 1, kFits, 1, 2, 0ms, 1s},
      {300ms, 2, kFits, 3, 0, 0ms, 1s},
      {500ms, 1, kOver, 3, 0, 500ms, 800ms},
      {500ms, 2, kOver, 3, 0, 800ms, 800ms},
      {500ms, 4, Fit::kNever, 3, 0, kNever, 800ms},
      {1299ms, 3, kOver, 2, 1, 1ms, 1ms},  // the refusals charged nothing
      {1300ms, 3, kFits, 3, 0, 0ms, 1s}}},
    {"FixedFreesAtOnce",
     Fixed(2, 1s),
     {{0ms, 1, kFits, 1, 1, 0ms, 1s},
      {400ms, 1, kFits, 2, 0, 0ms, 600ms},
      {999ms, 1, kOver, 2, 0, 1ms, 1ms},
      {1000ms, 1, kFits, 1, 1, 0ms, 1s},
      {1000ms, 2, kOver, 1, 1, 1s, 1s},
      {1000ms, 3, Fit::kNever, 1, 1, kNever, 1s}}},
    {"FixedWindowBeginsWithTheFirstHit",
     Fixed(1, 1s),
     {{700ms, 1, kFits, 1, 0, 0ms, 1s},
      {1699ms, 1, kOver, 1, 0, 1ms, 1ms},
      {1700ms, 1, kFits, 1, 0, 0ms, 1s}}},
    {"FixedCountsDeniedCallsToo",
     Fixed(1, 1s, Count::kAll),
     {{0ms, 1, kFits, 1, 0, 0ms, 1s},
      {500ms, 1, kOver, 2, 0, 500ms, 500ms},
      {999ms, 1, kOver, 3, 0, 1ms, 1ms},
      {1000ms, 2, Fit::kNever, 2, 0, kNever, 1s},
      {1999ms, 1, kOver, 3, 0, 1ms, 1ms},
      {2000ms, 1, kFits, 1, 0, 0ms, 1s}}},
    {"P01_LimitZeroOfALogIsACleanRejection",
     Sliding(0, 1min),
     {{0ms, 1, Fit::kNever, 0, 0, kNever, 0ms}, {1min, 1, Fit::kNever, 0, 0, kNever, 0ms}}},
    {"P01_LimitZeroOfACounterIsACleanRejection",
     Fixed(0, 1min),
     {{0ms, 1, Fit::kNever, 0, 0, kNever, 0ms}, {1min, 1, Fit::kNever, 0, 0, kNever, 0ms}}},
    {"P01_LimitZeroThatCountsAllCounts",
     Fixed(0, 1min, Count::kAll),
     {{0ms, 1, Fit::kNever, 1, 0, kNever, 1min}, {1s, 1, Fit::kNever, 2, 0, kNever, 59s}}},
    {"T7_HalfSecondWindowOfALog",
     Sliding(1, 500ms),
     {{0ms, 1, kFits, 1, 0, 0ms, 500ms},
      {499ms, 1, kOver, 1, 0, 1ms, 1ms},
      {500ms, 1, kFits, 1, 0, 0ms, 500ms}}},
    {"T7_HalfSecondWindowOfACounter",
     Fixed(1, 500ms),
     {{0ms, 1, kFits, 1, 0, 0ms, 500ms},
      {499ms, 1, kOver, 1, 0, 1ms, 1ms},
      {500ms, 1, kFits, 1, 0, 0ms, 500ms}}},
    {"ZeroCostIsNeverRefusedAndChargesNothing",
     Sliding(1, 1s),
     {{0ms, 0, kFits, 0, 1, 0ms, 0ms},
      {0ms, 1, kFits, 1, 0, 0ms, 1s},
      {1ms, 0, kFits, 1, 0, 0ms, 999ms}}},
    {"HugeCostsOverflowNothing",
     Fixed(1, 1s, Count::kAll),
     {{0ms, INT64_MAX, Fit::kNever, Limit::kMaxUnits + 1, 0, kNever, 1s},
      {0ms, INT64_MAX, Fit::kNever, 2 * (Limit::kMaxUnits + 1), 0, kNever, 1s}}},
};

class MemoryStoreScriptTest : public testing::TestWithParam<Script> {};

TEST_P(MemoryStoreScriptTest, FollowsScript) {
  ManualStore at;
  const Instant start = at.clock.Now();
  for (const Step& step : GetParam().steps) {
    SCOPED_TRACE(testing::Message() << "at " << step.at.count() << " us, cost " << step.cost);
    at.clock.Advance(start + step.at - at.clock.Now());
    const Taken taken = at.Take({MakeLine("key", GetParam().limit, step.cost)});
    EXPECT_EQ(taken.admitted, step.fit == kFits);
    EXPECT_EQ(taken.refused_line, step.fit == kFits ? -1 : 0);
    const LineStatus& got = taken.lines[0];
    EXPECT_EQ(got.fit, step.fit);
    EXPECT_EQ(got.used, step.used);
    EXPECT_EQ(got.remaining, step.remaining);
    EXPECT_EQ(got.retry_after, step.retry_after);
    EXPECT_EQ(got.reset_after, step.reset_after);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, MemoryStoreScriptTest, testing::ValuesIn(kScripts),
                         [](const auto& info) { return info.param.name; });

TEST(MemoryStoreTest, P09_WhatOneWindowRefusesTheOtherIsNotChargedFor) {
  ManualStore at;
  int passed = 0;
  for (int n = 0; n < 30; ++n) {
    at.clock.Advance(30ms);
    const Taken taken =
        at.Take({MakeLine("second", Sliding(10, 1s)), MakeLine("minute", Sliding(100, 1min))});
    passed += taken.admitted ? 1 : 0;
    EXPECT_EQ(taken.refused_line, taken.admitted ? -1 : 0);
  }
  EXPECT_EQ(passed, 10);
  EXPECT_EQ(at.Peek({MakeLine("minute", Sliding(100, 1min))}).lines[0].remaining, 90);
}

TEST(MemoryStoreTest, P19_UseDoesNotMoveAFixedWindow) {
  ManualStore at;
  for (Micros now = 0s; now <= 300s; now += 20s) {
    EXPECT_TRUE(at.Take({MakeLine("key", Fixed(100, 60s), 20)}).admitted) << now.count();
    at.clock.Advance(20s);
  }
}

TEST(MemoryStoreTest, P21_CallsInOneInstantAreAllCounted) {
  ManualStore at;
  for (int n = 0; n < 6; ++n) {
    EXPECT_EQ(at.Take({MakeLine("key", Sliding(5, 1min))}).admitted, n < 5);
  }
}

TEST(MemoryStoreTest, R15_AJumpOfTheWallClockChangesNothing) {
  for (const Limit& limit : {Sliding(1, 1min), Fixed(1, 1min)}) {
    ManualStore at;
    EXPECT_TRUE(at.Take({MakeLine("key", limit)}).admitted);
    at.clock.ShiftWallTime(1h);
    EXPECT_EQ(at.Take({MakeLine("key", limit)}).lines[0].retry_after, 1min);
    at.clock.ShiftWallTime(-2h);
    at.clock.Advance(1min - 1ms);
    EXPECT_EQ(at.Take({MakeLine("key", limit)}).lines[0].retry_after, 1ms);
    at.clock.Advance(1ms);
    EXPECT_TRUE(at.Take({MakeLine("key", limit)}).admitted);
  }
}

TEST(MemoryStoreTest, ARefusalChargesNothingAndLeavesKeysBehindItAlone) {
  ManualStore at;
  const Line first = MakeLine("first", Sliding(5, 1s));
  const Line full = MakeLine("full", Fixed(1, 1min));
  const Line behind = MakeLine("behind", Sliding(5, 1h));
  at.Take({full});
  const Taken taken = at.Take({first, full, behind});
  EXPECT_FALSE(taken.admitted);
  EXPECT_EQ(taken.refused_line, 1);
  EXPECT_EQ(taken.lines[0].fit, kFits);
  EXPECT_EQ(taken.lines[0].used, 0);
  EXPECT_EQ(taken.lines[1].fit, kOver);
  EXPECT_EQ(taken.lines[1].used, 1);
  EXPECT_EQ(taken.lines[2].fit, kNotLookedAt);
  EXPECT_EQ(at.Peek({first}).lines[0].used, 0);
  EXPECT_EQ(at.Peek({behind}).lines[0].used, 0);
  EXPECT_EQ(at.store.stats().keys, 1u);
}

TEST(MemoryStoreTest, ALineThatCountsAllIsChargedWhoeverRefuses) {
  ManualStore at;
  const Line all = MakeLine("all", Fixed(5, 1s, Count::kAll));
  const Line none = MakeLine("none", Sliding(0, 1min));
  const Line behind = MakeLine("behind", Fixed(5, 1h, Count::kAll));
  const Taken taken = at.Take({all, none, behind});
  EXPECT_EQ(taken.refused_line, 1);
  EXPECT_EQ(taken.lines[0].used, 1);
  EXPECT_EQ(taken.lines[2].fit, kNotLookedAt);
  EXPECT_EQ(at.Peek({behind}).lines[0].used, 0);
  for (int n = 2; n <= 7; ++n) at.Take({all});
  EXPECT_EQ(at.Peek({all}).lines[0].used, 7);
}

TEST(MemoryStoreTest, AShadowLineRefusesNobodyAndIsNotChargedPastItsLimit) {
  ManualStore at;
  const Line shadow = MakeLine("shadow", Sliding(1, 1s, Mode::kShadow));
  const Line all = MakeLine("all", Fixed(1, 1s, Count::kAll, Mode::kShadow));
  const Line enforced = MakeLine("enforced", Sliding(5, 1min));
  at.Take({shadow, all, enforced});
  const Taken taken = at.Take({shadow, all, enforced});
  EXPECT_TRUE(taken.admitted);
  EXPECT_EQ(taken.refused_line, -1);
  EXPECT_EQ(taken.lines[0].fit, kOver);
  EXPECT_EQ(taken.lines[0].used, 1);
  EXPECT_EQ(taken.lines[0].retry_after, 1s);
  EXPECT_EQ(taken.lines[1].fit, kOver);
  EXPECT_EQ(taken.lines[1].used, 2);
  EXPECT_EQ(taken.lines[2].used, 2);
}

TEST(MemoryStoreTest, APeekLooksAtAllLinesAndWritesNothing) {
  ManualStore at;
  const Line full = MakeLine("full", Sliding(1, 1s));
  const Line free = MakeLine("free", Sliding(5, 1min), 0);  // a peek for 0 asks for 1
  const Line never = MakeLine("never", Fixed(5, 1h, Count::kAll), 6);
  at.Take({full});
  const MemoryStore::Stats before = at.store.stats();
  for (int n = 0; n < 100; ++n) {
    const Taken taken = at.Peek({full, free, never});
    EXPECT_FALSE(taken.admitted);
    EXPECT_EQ(taken.refused_line, 0);
    EXPECT_EQ(taken.lines[0].fit, kOver);
    EXPECT_EQ(taken.lines[1].fit, kFits);
    EXPECT_EQ(taken.lines[1].remaining, 5);
    EXPECT_EQ(taken.lines[2].fit, Fit::kNever);
    EXPECT_EQ(taken.lines[2].used, 0);
  }
  EXPECT_EQ(at.Peek({MakeLine("full", Sliding(1, 1s), 0)}).lines[0].fit, kOver);
  EXPECT_TRUE(at.Peek({free}).admitted);
  EXPECT_EQ(at.store.stats().keys, before.keys);
  EXPECT_EQ(at.store.stats().bytes, before.bytes);
}

TEST(MemoryStoreTest, AChangedLimitAppliesFromTheNextCheckOn) {
  for (const bool sliding : {true, false}) {
    const auto of = [sliding](Units units) {
      return sliding ? Sliding(units, 1h) : Fixed(units, 1h);
    };
    ManualStore at;
    for (int n = 0; n < 50; ++n) EXPECT_EQ(at.Take({MakeLine("key", of(10))}).admitted, n < 10);
    const Taken lowered = at.Take({MakeLine("key", of(5))});
    EXPECT_EQ(lowered.lines[0].used, 10);
    EXPECT_EQ(lowered.lines[0].remaining, 0);
    for (int n = 0; n < 50; ++n) {
      EXPECT_EQ(at.Take({MakeLine("key", of(20))}).admitted, n < 10);
    }
  }
}

TEST(MemoryStoreTest, ResetRemovesTheKeysAndCountsThoseThatWereThere) {
  ManualStore at;
  const Line log = MakeLine("log", Sliding(1, 1min));
  const Line counter = MakeLine("counter", Fixed(1, 1min));
  const Line other = MakeLine("other", Sliding(1, 1min));
  const Line over = MakeLine("over", Fixed(1, 1s));
  at.Take({log, counter, other, over});
  at.clock.Advance(1s);  // the window of `over` is over
  const Key keys[] = {log.key, counter.key, over.key, MakeKey("absent")};
  EXPECT_EQ(at.Reset(keys), 2);
  EXPECT_EQ(at.Reset(keys), 0);
  EXPECT_TRUE(at.Take({log, counter}).admitted);
  EXPECT_FALSE(at.Take({other}).admitted);
}

TEST(MemoryStoreTest, RunAnswersBeforeItReturns) {
  ManualStore at;
  const Line line = MakeLine("key", Sliding(1, 1min));
  int calls = 0;
  at.store.Run({Op::kTake, {&line, 1}}, 50ms, [&](Result<Taken> taken) {
    ++calls;
    ASSERT_TRUE(taken.ok());
    EXPECT_TRUE(taken->admitted);
  });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace brim

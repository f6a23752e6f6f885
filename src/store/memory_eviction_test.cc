// What the embedded store forgets, and in which order.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include <brim/memory_store.h>
#include "store/memory_store_testing.h"

namespace brim {
namespace {

using namespace std::chrono_literals;

// What the calls of one thread may be over the budget: a quarter of a table and a line.
constexpr std::size_t kSlack = std::size_t{24} << 10;

TEST(MemoryExpiryTest, TrafficOnOtherKeysSweepsIdleOnesAway) {
  ManualStore at;
  for (std::size_t n = 0; n < 20'000; ++n) at.Take({Line(NumberedKey("idle", n), Fixed(5, 1s), 1)});
  EXPECT_EQ(at.store.stats().keys, 20'000u);
  const std::size_t full = at.store.stats().bytes;
  at.clock.Advance(1s);
  // A take sweeps, on average, a quarter of a slot of its own shard and half a slot of another.
  for (std::size_t n = 0; n < 500'000; ++n) {
    at.Take({Line(NumberedKey("busy", n % 5'000), Sliding(5, 1h), 1)});
  }
  EXPECT_LT(at.store.stats().keys, 5'200u);  // a few wait in shards where no visit came yet
  EXPECT_LT(at.store.stats().bytes, full / 3);
  EXPECT_EQ(at.store.stats().evictions, 0u);
}

TEST(MemoryExpiryTest, OneBusyKeySweepsTheWholeStore) {
  ManualStore at;
  for (std::size_t n = 0; n < 20'000; ++n) at.Take({Line(NumberedKey("idle", n), Fixed(5, 1s), 1)});
  at.clock.Advance(1s);
  // Three visits to each of 4,096 shards, one every 32 takes.
  for (int n = 0; n < 3 * 4'096 * 32; ++n) at.Take({MakeLine("busy", Fixed(5, 1h))});
  EXPECT_EQ(at.store.stats().keys, 1u);
}

TEST(MemoryExpiryTest, IdleKeysMakeRoomForNewOnesWithoutGrowth) {
  ManualStore at;
  std::size_t most = 0;
  for (std::size_t n = 0; n < 200'000; ++n) {
    at.Take({Line(NumberedKey("user", n), Sliding(5, 1s), 1)});
    at.clock.Advance(100us);  // 10,000 keys live at a time
    if (n % 1'000 == 0) most = std::max(most, at.store.stats().bytes);
  }
  EXPECT_LT(most, 30'000u * 100);
  EXPECT_EQ(at.store.stats().evictions, 0u);
}

TEST(MemoryExpiryTest, ALogThatEmptiesGivesItsMemoryBack) {
  ManualStore at;
  for (int n = 0; n < 1000; ++n) at.Take({MakeLine("key", Sliding(100'000, 1s), 64)});
  EXPECT_GT(at.store.stats().bytes, 64'000u * 5);
  EXPECT_LT(at.store.stats().bytes, 64'000u * 8);
  at.clock.Advance(1s);
  at.Take({MakeLine("key", Sliding(100'000, 1s))});
  EXPECT_LT(at.store.stats().bytes, 1000u);
}

TEST(MemoryEvictionTest, StaysWithinItsBudgetWhateverComes) {
  constexpr std::size_t kMax = std::size_t{1} << 20;
  ManualStore at(kMax);
  for (std::size_t n = 0; n < 100'000; ++n) {
    at.Take({Line(NumberedKey("user", n), Sliding(5, 1h), 1)});
    at.Take({Line(NumberedKey("log", n % 50), Sliding(100'000, 1h), 3)});
    ASSERT_LE(at.store.stats().bytes, kMax + kSlack) << n;
  }
  EXPECT_GT(at.store.stats().bytes, kMax / 2);
  EXPECT_GT(at.store.stats().evictions, 80'000u);
}

// A flood of new ids frees nobody who is limited.
TEST(MemoryEvictionTest, LimitedKeysSurviveAFloodOfOthers) {
  constexpr std::size_t kMax = std::size_t{2} << 20;
  constexpr std::size_t kLimited = 10'000;
  ManualStore at(kMax);
  for (std::size_t n = 0; n < 5'000; ++n) at.Take({Line(NumberedKey("idle", n), Fixed(5, 1s), 1)});
  at.clock.Advance(1s);
  for (std::size_t n = 0; n < kLimited; ++n) {
    const Limit limit = n % 2 == 0 ? Sliding(1, 1h) : Fixed(1, 1h);
    EXPECT_TRUE(at.Take({Line(NumberedKey("limited", n), limit, 1)}).admitted);
  }
  for (std::size_t n = 0; n < 100'000; ++n) {
    at.Take({Line(NumberedKey("flood", n), Sliding(5, 1min), 1)});
    ASSERT_LE(at.store.stats().bytes, kMax + kSlack) << n;
  }
  EXPECT_GT(at.store.stats().evictions, 80'000u);
  for (std::size_t n = 0; n < kLimited; ++n) {
    const Limit limit = n % 2 == 0 ? Sliding(1, 1h) : Fixed(1, 1h);
    ASSERT_FALSE(at.Peek({Line(NumberedKey("limited", n), limit, 1)}).admitted) << n;
  }
}

TEST(MemoryEvictionTest, IdleKeysGoBeforeAnyOther) {
  ManualStore at(std::size_t{1} << 20);
  for (std::size_t n = 0; n < 6'000; ++n) at.Take({Line(NumberedKey("idle", n), Fixed(5, 1s), 1)});
  at.clock.Advance(1s);
  // They fit if those are gone, and only then.
  for (std::size_t n = 0; n < 8'000; ++n) {
    at.Take({Line(NumberedKey("busy", n), Sliding(5, 1h), 1)});
  }
  EXPECT_EQ(at.store.stats().evictions, 0u);
  EXPECT_LE(at.store.stats().bytes, std::size_t{1} << 20);
}

TEST(MemoryEvictionTest, WhenAllAreLimitedThoseThatAreFreeSoonestGo) {
  constexpr std::size_t kMax = std::size_t{1} << 20;
  ManualStore at(kMax);
  const auto survivors = [&](const char* stem, const Limit& limit) {
    std::size_t count = 0;
    for (std::size_t n = 0; n < 5'000; ++n) {
      count += at.Peek({Line(NumberedKey(stem, n), limit, 1)}).admitted ? 0 : 1;
    }
    return count;
  };
  for (std::size_t n = 0; n < 5'000; ++n) {
    at.Take({Line(NumberedKey("hour", n), Sliding(1, 1h), 1)});
    at.Take({Line(NumberedKey("day", n), Sliding(1, 24h), 1)});
  }
  EXPECT_EQ(at.store.stats().evictions, 0u);
  for (std::size_t n = 0; n < 5'000; ++n) {
    at.Take({Line(NumberedKey("week", n), Sliding(1, 168h), 1)});
    ASSERT_LE(at.store.stats().bytes, kMax + kSlack) << n;
  }
  // Exact within a shard: of one whose hours are used up some days go as well.
  const std::size_t hours_lost = 5'000 - survivors("hour", Sliding(1, 1h));
  const std::size_t days_lost = 5'000 - survivors("day", Sliding(1, 24h));
  EXPECT_EQ(survivors("week", Sliding(1, 168h)), 5'000u);
  EXPECT_GT(hours_lost, 1'000u);
  EXPECT_LT(days_lost, hours_lost / 2);
}

TEST(MemoryEvictionTest, AKeyWhoseLimitWasLoweredBelowItsUseCountsAsLimited) {
  ManualStore at(std::size_t{64} << 10);
  at.Take({MakeLine("lowered", Fixed(10, 1h), 5)});
  EXPECT_FALSE(at.Take({MakeLine("lowered", Fixed(5, 1h))}).admitted);
  for (std::size_t n = 0; n < 20'000; ++n) {
    at.Take({Line(NumberedKey("flood", n), Sliding(5, 2h), 1)});
  }
  EXPECT_GT(at.store.stats().evictions, 10'000u);
  EXPECT_FALSE(at.Take({MakeLine("lowered", Fixed(5, 1h))}).admitted);
}

// Nothing that could be evicted would make it fit, so nothing else is.
TEST(MemoryEvictionTest, ALogLargerThanTheBudgetIsDroppedAloneAndTheOthersStay) {
  constexpr std::size_t kMax = std::size_t{256} << 10;
  ManualStore at(kMax);
  at.Take({MakeLine("limited", Sliding(1, 1h))});
  for (int n = 0; n < 5'000; ++n) {
    EXPECT_TRUE(at.Take({MakeLine("huge", Sliding(1'000'000'000, 1h), 64)}).admitted);
    ASSERT_LE(at.store.stats().bytes, kMax + kSlack) << n;
  }
  EXPECT_GE(at.store.stats().evictions, 5u);
  EXPECT_FALSE(at.Take({MakeLine("limited", Sliding(1, 1h))}).admitted);
}

TEST(MemoryEvictionTest, ABudgetOfNothingIsTakenAsTheLeastThatWorks) {
  ManualStore at(0);
  EXPECT_TRUE(at.Take({MakeLine("key", Sliding(1, 1h))}).admitted);
  EXPECT_FALSE(at.Take({MakeLine("key", Sliding(1, 1h))}).admitted);
}

}  // namespace
}  // namespace brim

#include "store/time_log.h"

#include <algorithm>
#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "algorithm/sliding_window.h"

namespace brim {
namespace {

static_assert(SlidingLog<TimeLog>);

// TimeLog is plain bytes; in a test somebody must free it.
struct OwnedLog : TimeLog {
  ~OwnedLog() { Clear(); }
};

TEST(TimeLogTest, CountsUpToAndIncludingATime) {
  OwnedLog log;
  EXPECT_EQ(log.CountUpTo(TimeLog::kMaxMs), 0u);
  log.Append(10, 2);
  log.Append(20, 1);
  log.Append(30, 4);
  EXPECT_EQ(log.CountUpTo(-1), 0u);
  EXPECT_EQ(log.CountUpTo(9), 0u);
  EXPECT_EQ(log.CountUpTo(10), 2u);
  EXPECT_EQ(log.CountUpTo(19), 2u);
  EXPECT_EQ(log.CountUpTo(20), 3u);
  EXPECT_EQ(log.CountUpTo(29), 3u);
  EXPECT_EQ(log.CountUpTo(30), 7u);
}

TEST(TimeLogTest, KeepsTimesUpToThirtyFourYears) {
  OwnedLog log;
  log.Append(0, 1);
  log.Append(std::int64_t{1} << 32, 1);
  log.Append(TimeLog::kMaxMs, 1);
  EXPECT_EQ(log[0], 0);
  EXPECT_EQ(log[1], std::int64_t{1} << 32);
  EXPECT_EQ(log[2], TimeLog::kMaxMs);
}

TEST(TimeLogTest, FewEntriesTakeNoHeap) {
  OwnedLog log;
  log.Append(1, TimeLog::kInside);
  EXPECT_EQ(log.heap_bytes(), 0u);
  log.Append(1, 1);
  EXPECT_GT(log.heap_bytes(), 0u);
  log.DropOldest(TimeLog::kInside);
  EXPECT_EQ(log.heap_bytes(), 0u);
  EXPECT_EQ(log[0], 1);
}

TEST(TimeLogTest, ReserveNeverExceedsWhatTheLimitCanNeed) {
  for (std::size_t most = 1; most < 200; ++most) {
    OwnedLog log;
    for (std::size_t n = 0; n < most; ++n) {
      log.Reserve(n + 1, most);
      log.Append(static_cast<std::int64_t>(n), 1);
      EXPECT_LE(log.capacity(), std::max(most, TimeLog::kInside));
    }
  }
}

TEST(TimeLogTest, GrowsByAHalfAndShrinksWhenHalfEmpty) {
  OwnedLog log;
  for (int n = 0; n < 100'000; ++n) {
    log.Append(n, 1);
    if (log.size() > 1000) {
      EXPECT_LE(log.heap_bytes(), log.size() * 8);
    }
  }
  while (log.size() > 1000) {
    log.DropOldest(100);
    EXPECT_LE(log.heap_bytes(), log.size() * 10 + 24);
    EXPECT_EQ(log[log.size() - 1], 99'999);
  }
  log.DropOldest(log.size());
  EXPECT_EQ(log.heap_bytes(), 0u);
}

// Against a deque, which cannot be wrong.
TEST(TimeLogTest, EqualsADequeUnderRandomUse) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 50; ++round) {
    OwnedLog log;
    std::deque<std::int64_t> plain;
    std::int64_t now = 0;
    const std::size_t busy = 1 + below(60);  // small rounds stay inside, large ones wrap the ring
    for (int step = 0; step < 400; ++step) {
      now += static_cast<std::int64_t>(below(5));
      const std::size_t added = below(busy);
      log.Append(now, added);
      plain.insert(plain.end(), added, now);
      const std::size_t dropped = std::min(plain.size(), below(busy + 2));
      log.DropOldest(dropped);
      plain.erase(plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(dropped));
      ASSERT_EQ(log.size(), plain.size());
      for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(log[i], plain[i]);
      const std::int64_t asked = now - static_cast<std::int64_t>(below(50));
      ASSERT_EQ(log.CountUpTo(asked),
                static_cast<std::size_t>(std::upper_bound(plain.begin(), plain.end(), asked) -
                                         plain.begin()));
    }
  }
}

}  // namespace
}  // namespace brim

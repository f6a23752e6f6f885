#include "store/reject_memory.h"

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <brim/memory_store.h>
#include <brim/testing.h>

namespace brim {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};

CheckLines LinesOf(const std::string& limit, const std::string& subject = "u", Units cost = 1) {
  Key key;
  key.Append(subject);
  CheckLines lines;
  lines.Add(key, ParseLimit(limit).value(), cost);
  return lines;
}

Taken RefusalFor(Micros wait) {
  Taken taken;
  taken.refused_line = 0;
  taken.lines.push_back({.fit = Fit::kOver,
                         .used = 5,
                         .remaining = 0,
                         .retry_after = wait,
                         .reset_after = wait == kNever ? wait : 2 * wait});
  return taken;
}

class RejectMemoryTest : public ::testing::Test {
 protected:
  // A refusal that was sent for at kStart and received 3 ms later.
  void Refuse(const CheckLines& lines, Micros wait) {
    const CheckName name = Name(lines);
    memory_.Remember(name, lines[0].limit, memory_.VersionOf(name.keys), RefusalFor(wait), kStart,
                     kStart + 3ms);
  }
  CheckName Name(const CheckLines& lines) const { return memory_.namer().NameOf(lines); }
  bool Refuses(const CheckLines& lines, Micros at) {
    return memory_.Answer(Name(lines), kStart + at).has_value();
  }

  RejectMemory memory_{1s};
};

TEST_F(RejectMemoryTest, RefusesUntilSendingAndTellsTheTimeFromReceiving) {
  const CheckLines lines = LinesOf("5 per minute");
  Refuse(lines, 100ms);
  const auto refusal = memory_.Answer(Name(lines), kStart + 50ms);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->lines[0].retry_after, 53ms);
  EXPECT_EQ(refusal->lines[0].reset_after, 153ms);
  // The server counts whole milliseconds: the one of the answer had begun before.
  EXPECT_TRUE(Refuses(lines, 98'999us));
  EXPECT_FALSE(Refuses(lines, 99ms));
  EXPECT_EQ(memory_.answered(), 2u);
}

TEST_F(RejectMemoryTest, TokenBucketsCountMicroseconds) {
  const CheckLines lines = LinesOf("5 per minute token_bucket");
  Refuse(lines, 100ms);
  EXPECT_TRUE(Refuses(lines, 99'998us));
  EXPECT_FALSE(Refuses(lines, 99'999us));
}

TEST_F(RejectMemoryTest, SaysWhenAUnitIsSurelyFreeOnceItMayBe) {
  const CheckLines lines = LinesOf("5 per minute");
  EXPECT_EQ(memory_.FitsAt(Name(lines), kStart), std::nullopt);
  Refuse(lines, 100ms);
  EXPECT_EQ(memory_.FitsAt(Name(lines), kStart + 98ms), std::nullopt);
  EXPECT_EQ(memory_.FitsAt(Name(lines), kStart + 99ms), kStart + 103ms);
  EXPECT_EQ(memory_.FitsAt(Name(lines), kStart + 103ms), std::nullopt);
}

TEST_F(RejectMemoryTest, OtherLimitsCostsAndKeysAreOtherChecks) {
  Refuse(LinesOf("5 per minute"), 100ms);
  for (const CheckLines& other :
       {LinesOf("6 per minute"), LinesOf("5 per minute", "v"), LinesOf("5 per minute", "u", 2),
        LinesOf("5 per minute weighted"), LinesOf("5 per minute shadow"), LinesOf("5 per hour")}) {
    EXPECT_FALSE(Refuses(other, 10ms));
  }
  EXPECT_TRUE(Refuses(LinesOf("5 per minute"), 10ms));
}

TEST_F(RejectMemoryTest, AsksAgainAfterMaxAge) {
  const CheckLines lines = LinesOf("5 per minute");
  Refuse(lines, 1min);
  EXPECT_TRUE(Refuses(lines, 999'999us));
  EXPECT_FALSE(Refuses(lines, 1s));
  EXPECT_EQ(memory_.FitsAt(Name(lines), kStart + 1s), std::nullopt);  // it is not held for that
}

TEST_F(RejectMemoryTest, WhatNeverFitsIsRememberedToo) {
  const CheckLines lines = LinesOf("0 per minute");
  Refuse(lines, kNever);
  EXPECT_EQ(memory_.Answer(Name(lines), kStart + 500ms)->lines[0].retry_after, kNever);
  EXPECT_FALSE(Refuses(lines, 1s));
}

TEST_F(RejectMemoryTest, ForgetsWhatWasLearntBefore) {
  const CheckLines lines = LinesOf("5 per minute");
  const CheckName name = Name(lines);
  Refuse(lines, 100ms);
  memory_.Forget(name.keys);
  EXPECT_FALSE(Refuses(lines, 10ms));
  // Nor does the answer to what was sent before come to count.
  const std::uint64_t before = memory_.VersionOf(name.keys);
  memory_.Forget(name.keys);
  memory_.Remember(name, lines[0].limit, before, RefusalFor(100ms), kStart, kStart + 3ms);
  EXPECT_FALSE(Refuses(lines, 10ms));
  Refuse(lines, 100ms);
  EXPECT_TRUE(Refuses(lines, 10ms));
}

TEST_F(RejectMemoryTest, NoAgeRemembersNothing) {
  RejectMemory off(0s);
  const CheckLines lines = LinesOf("5 per minute");
  const CheckName name = off.namer().NameOf(lines);
  off.Remember(name, lines[0].limit, 0, RefusalFor(1s), kStart, kStart);
  EXPECT_TRUE(off.empty());
  EXPECT_FALSE(off.Answer(name, kStart));
}

TEST_F(RejectMemoryTest, IsBounded) {
  RejectMemory small(1s, 32);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const CheckLines lines = LinesOf("5 per minute", "u" + std::to_string(i));
    const CheckName name = small.namer().NameOf(lines);
    small.Remember(name, lines[0].limit, 0, RefusalFor(1s), kStart, kStart);
    EXPECT_TRUE(small.Answer(name, kStart));  // the newest is kept
  }
  for (int i = 0; i < 1000; ++i) {
    const CheckLines lines = LinesOf("5 per minute", "u" + std::to_string(i));
    refused += small.Answer(small.namer().NameOf(lines), kStart).has_value();
  }
  EXPECT_LE(refused, 32);
}

// Beside a store that answers after some time: what is refused here would be refused there, and who
// waits as long as he was told is admitted there.
TEST_F(RejectMemoryTest, NeverDiffersFromTheStore) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (const char* limit : {"3 per 20 ms", "7 per 50 ms weighted", "3 per 20 ms fixed_window",
                            "3 per 20 ms fixed_window aligned", "3 per 20 ms token_bucket",
                            "5 per 20 ms sliding_window_counter"}) {
    SCOPED_TRACE(limit);
    const CheckLines lines = LinesOf(limit);
    const CheckName name = Name(lines);
    ManualClock clock;
    MemoryStore store({.clock = &clock});
    int answered = 0;
    bool admitted_since = false;  // the refusal that is remembered
    for (int i = 0; i < 20'000; ++i) {
      clock.Advance(Micros(random() % 1500));
      Taken there;
      if (const auto here = memory_.Answer(name, clock.Now())) {
        ++answered;
        ASSERT_TRUE(store.TryNow({Op::kPeek, lines}, there));
        ASSERT_NE(there.lines[0].fit, Fit::kFits);
        if (random() % 8 != 0) continue;
        clock.Advance(here->lines[0].retry_after);
        ASSERT_TRUE(store.TryNow({Op::kPeek, lines}, there));
        ASSERT_EQ(there.lines[0].fit, Fit::kFits);
        continue;
      }
      if (const auto fits_at = memory_.FitsAt(name, clock.Now())) {
        clock.Advance(*fits_at - clock.Now());
        ASSERT_TRUE(store.TryNow({Op::kPeek, lines}, there));
        ASSERT_TRUE(there.lines[0].fit == Fit::kFits || admitted_since);
      }
      const Instant sent = clock.Now();
      clock.Advance(Micros(random() % 3000));
      ASSERT_TRUE(store.TryNow({Op::kTake, lines}, there));
      clock.Advance(Micros(random() % 3000));
      admitted_since = there.admitted;
      if (there.admitted) continue;
      memory_.Remember(name, lines[0].limit, memory_.VersionOf(name.keys), there, sent,
                       clock.Now());
    }
    EXPECT_GT(answered, 100);
  }
}

}  // namespace
}  // namespace brim

// The same scripts on every store: at, cost -> outcome, remaining, retry_after, reset_after, with
// values one step either side of each edge. What a script says holds for memory, Redis and Valkey
// alike.
#include <brim/limiter.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/store_under_test.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;
using enum Outcome;

struct Step {
  Micros at;
  Units cost;  // 0 peeks
  Outcome outcome;
  Units remaining;
  Micros retry_after;
  Micros reset_after;
  const char* limits = nullptr;  // from this step on, if not null
};

struct Script {
  const char* name;
  const char* limits;
  std::vector<Step> steps;
  Count count = Count::kAdmitted;
  KeyForm key = KeyForm::kFull;
};

const Script kScripts[] = {
    {"SlidingWindowLetsOldestOutOnTime",
     "2 per 10 seconds",
     {{0ms, 1, kAllowed, 1, 0ms, 10s},
      {4s, 1, kAllowed, 0, 0ms, 10s},
      {4s, 1, kLimited, 0, 6s, 10s},
      {9999ms, 1, kLimited, 0, 1ms, 4001ms},
      {10s, 1, kAllowed, 0, 0ms, 10s},  // its age equals the window: out
      {10s, 1, kLimited, 0, 4s, 10s},
      {13999ms, 1, kLimited, 0, 1ms, 6001ms},
      {14s, 1, kAllowed, 0, 0ms, 10s},
      {24s, 0, kAllowed, 2, 0ms, 0ms}}},
    {"SlidingWindowPeekWritesNothing",
     "1 per second",
     {{0ms, 0, kAllowed, 1, 0ms, 0ms},
      {0ms, 0, kAllowed, 1, 0ms, 0ms},
      {0ms, 1, kAllowed, 0, 0ms, 1s},
      {1ms, 0, kLimited, 0, 999ms, 999ms},
      {999ms, 0, kLimited, 0, 1ms, 1ms},
      {1s, 0, kAllowed, 1, 0ms, 0ms}}},
    {"SlidingWindowCostWaitsForItsRank",
     "5 per 10 seconds",
     {{0s, 1, kAllowed, 4, 0ms, 10s},
      {1s, 1, kAllowed, 3, 0ms, 10s},
      {2s, 2, kAllowed, 1, 0ms, 10s},
      {3s, 2, kLimited, 1, 7s, 9s},  // one more must leave: that of 0 s
      {3s, 3, kLimited, 1, 8s, 9s},
      {3s, 4, kLimited, 1, 9s, 9s},
      {3s, 5, kLimited, 1, 9s, 9s},
      {3s, 6, kLimited, 1, kNever, 9s},
      {3s, 1, kAllowed, 0, 0ms, 10s},
      {11s, 2, kAllowed, 0, 0ms, 10s}}},
    {"SlidingWindowFloorsTimeToMillis",
     "1 per second",
     {{1500us, 1, kAllowed, 0, 0ms, 1s},
      {1999us, 1, kLimited, 0, 1s, 1s},
      {1000999us, 1, kLimited, 0, 1ms, 1ms},
      {1001000us, 1, kAllowed, 0, 0ms, 1s}}},
    {"SlidingWindowLimitMayChange",
     "4 per 10 seconds",
     {{0s, 1, kAllowed, 3, 0ms, 10s},
      {1s, 1, kAllowed, 2, 0ms, 10s},
      {2s, 1, kAllowed, 1, 0ms, 10s},
      {3s, 1, kLimited, 0, 8s, 9s, "2 per 10 seconds"},  // two must leave
      {3s, 3, kLimited, 0, kNever, 9s},
      {3s, 1, kAllowed, 2, 0ms, 10s, "6 per 10 seconds"}}},
    {"P01_SlidingWindowOfZeroNeverFits",
     "0 per minute",
     {{0s, 1, kLimited, 0, kNever, 0ms},
      {0s, 1, kLimited, 0, kNever, 0ms},
      {61s, 0, kLimited, 0, kNever, 0ms}}},
    {"P01_FixedWindowOfZeroNeverFits",
     "0 per minute fixed_window",
     {{0s, 1, kLimited, 0, kNever, 0ms}, {0s, 1, kLimited, 0, kNever, 0ms}}},
    {"P19_FixedWindowIsNotMovedByUse",
     "3 per 60 seconds fixed_window",
     {{0s, 1, kAllowed, 2, 0ms, 60s},
      {20s, 1, kAllowed, 1, 0ms, 40s},
      {40s, 1, kAllowed, 0, 0ms, 20s},
      {59999ms, 1, kLimited, 0, 1ms, 1ms},
      {60s, 1, kAllowed, 2, 0ms, 60s},
      {119999ms, 2, kAllowed, 0, 0ms, 1ms},
      {120s, 3, kAllowed, 0, 0ms, 60s}}},
    {"P19_TwentyUnitsEveryTwentySecondsPass",
     "100 per 60 seconds fixed_window",
     {{0s, 20, kAllowed, 80, 0ms, 60s},
      {20s, 20, kAllowed, 60, 0ms, 40s},
      {40s, 20, kAllowed, 40, 0ms, 20s},
      {60s, 20, kAllowed, 80, 0ms, 60s},
      {80s, 20, kAllowed, 60, 0ms, 40s},
      {100s, 20, kAllowed, 40, 0ms, 20s},
      {120s, 20, kAllowed, 80, 0ms, 60s}}},
    {"FixedWindowCost",
     "5 per minute fixed_window",
     {{0s, 3, kAllowed, 2, 0ms, 60s},
      {1s, 3, kLimited, 2, 59s, 59s},
      {1s, 6, kLimited, 2, kNever, 59s},
      {1s, 2, kAllowed, 0, 0ms, 59s},
      {2s, 0, kLimited, 0, 58s, 58s},
      {60s, 1000000001, kLimited, 5, kNever, 0ms},
      {60s, 5, kAllowed, 0, 0ms, 60s}}},
    {"P11_FixedWindowRaisedMidWindow",
     "2 per hour fixed_window",
     {{0s, 2, kAllowed, 0, 0ms, 1h},
      {1s, 1, kLimited, 0, 3599s, 3599s},
      {2s, 2, kAllowed, 0, 0ms, 3598s, "4 per hour fixed_window"},
      {3s, 1, kLimited, 0, 3597s, 3597s},
      {4s, 1, kLimited, 0, 3596s, 3596s, "1 per hour fixed_window"}}},
    {"FixedWindowCountAllCountsRefusals",
     "2 per minute fixed_window",
     {{0s, 1, kAllowed, 1, 0ms, 60s},
      {1s, 1, kAllowed, 0, 0ms, 59s},
      {2s, 1, kLimited, 0, 58s, 58s},
      {3s, 1, kLimited, 0, 57s, 57s},
      {4s, 1, kLimited, 0, 56s, 56s, "4 per minute fixed_window"},  // four were counted
      {5s, 1, kAllowed, 4, 0ms, 55s, "10 per minute fixed_window"},
      {60s, 1, kAllowed, 9, 0ms, 60s}},
     Count::kAll},
    {"FixedWindowCountAllCountsWhatNeverFits",
     "0 per minute fixed_window",
     {{0s, 1, kLimited, 0, kNever, 60s}, {1s, 1, kLimited, 0, kNever, 59s}},
     Count::kAll},
    {"PlainKeyKeepsItsWindowAndFollowsAShorterOne",
     "5 per minute fixed_window",
     {{0s, 5, kAllowed, 0, 0ms, 60s},
      {10s, 1, kLimited, 0, 50s, 50s},
      {20s, 1, kLimited, 0, 10s, 10s, "5 per 10 seconds fixed_window"},
      {29999ms, 1, kLimited, 0, 1ms, 1ms},
      {30s, 1, kAllowed, 4, 0ms, 10s}},
     Count::kAdmitted,
     KeyForm::kPlain},
    {"T7_HalfASecondIsHalfASecond",
     "1 per 500ms fixed_window",
     {{0ms, 1, kAllowed, 0, 0ms, 500ms},
      {499ms, 1, kLimited, 0, 1ms, 1ms},
      {500ms, 1, kAllowed, 0, 0ms, 500ms}}},
    {"T7_OneMillisecondWindows",
     "2 per 1ms",
     {{0ms, 2, kAllowed, 0, 0ms, 1ms},
      {0ms, 1, kLimited, 0, 1ms, 1ms},
      {1ms, 2, kAllowed, 0, 0ms, 1ms},
      {1999us, 1, kLimited, 0, 1ms, 1ms},
      {2ms, 1, kAllowed, 1, 0ms, 1ms}}},
    {"LongestWindow",
     "1 per 366 days",
     {{0s, 1, kAllowed, 0, 0ms, 366 * 24h},
      {366 * 24h - 1ms, 1, kLimited, 0, 1ms, 1ms},
      {366 * 24h, 1, kAllowed, 0, 0ms, 366 * 24h}}},
    {"SeveralWindowsAreAllOrNone",
     "2 per second; 3 per minute; 100 per hour fixed_window",
     {{0s, 1, kAllowed, 1, 0ms, 1s},
      {0s, 1, kAllowed, 0, 0ms, 1s},
      {0s, 1, kLimited, 0, 1s, 1s},
      {1s, 1, kAllowed, 0, 0ms, 1min},  // the minute is the tightest now
      {1s, 1, kLimited, 0, 59s, 1min},  // refused by the minute: the second is not charged
      {1s, 1, kLimited, 0, 1s, 1s, "1 per second; 3 per minute"},
      {60s, 2, kAllowed, 0, 0ms, 1s, "2 per second; 3 per minute"}}},
    {"ShadowLineIsNotChargedWhenItDoesNotFit",
     "1 per minute shadow; 3 per hour",
     {{0s, 1, kAllowed, 2, 0ms, 1h},
      {1s, 1, kAllowed, 1, 0ms, 1h},
      {60s, 1, kAllowed, 0, 0ms, 1h},  // the shadow's entry of 0 s is out
      {61s, 1, kLimited, 0, 3539s, 3599s},
      {119s, 0, kLimited, 0, 1s, 1s, "1 per minute"}}},  // charged at 60 s, not at 61 s
};

std::vector<Limit> LimitsOf(const Script& script, const char* text) {
  std::vector<Limit> limits;
  for (const Limit& parsed : ParseLimits(text).value()) {
    LimitSpec spec{.units = parsed.units(),
                   .window = parsed.window(),
                   .algorithm = parsed.algorithm(),
                   .mode = parsed.mode()};
    if (spec.algorithm == Algorithm::kFixedWindow) {
      spec.count = script.count;
      spec.key = script.key;
    }
    limits.push_back(Limit::Create(spec).value());
  }
  return limits;
}

class ConformanceTest : public ::testing::TestWithParam<std::tuple<StoreKind, Script>> {};

TEST_P(ConformanceTest, FollowsScript) {
  const auto& [kind, script] = GetParam();
  const auto under_test = MakeStoreUnderTest(kind);
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  std::vector<Limit> limits = LimitsOf(script, script.limits);
  for (const Step& step : script.steps) {
    SCOPED_TRACE(::testing::Message() << "at " << step.at.count() << " us, cost " << step.cost);
    if (step.limits != nullptr) limits = LimitsOf(script, step.limits);
    under_test->SetTime(step.at);
    const Decision got = limiter.Check({.subject = "u", .limits = limits, .cost = step.cost});
    EXPECT_EQ(got.outcome, step.outcome);
    EXPECT_EQ(got.store_error, StoreError::kNone);
    EXPECT_EQ(got.remaining, step.remaining);
    EXPECT_EQ(got.retry_after.count(), step.retry_after.count());
    EXPECT_EQ(got.reset_after.count(), step.reset_after.count());
  }
}

INSTANTIATE_TEST_SUITE_P(EveryStore, ConformanceTest,
                         ::testing::Combine(::testing::Values(StoreKind::kMemory, StoreKind::kRedis,
                                                              StoreKind::kValkey),
                                            ::testing::ValuesIn(kScripts)),
                         [](const auto& info) {
                           return (::testing::Message() << std::get<0>(info.param) << "_"
                                                        << std::get<1>(info.param).name)
                               .GetString();
                         });

class EveryStoreTest : public ::testing::TestWithParam<StoreKind> {};

TEST_P(EveryStoreTest, P17_LostTtlHealsAndTheClientPassesAgain) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("10 per minute fixed_window").value();
  const CheckRequest one{.subject = "u", .limits = limits};
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(limiter.Check(one).allowed());
  under_test->LoseTtls();
  const Decision limited = limiter.Check(one);
  EXPECT_FALSE(limited.allowed());
  EXPECT_EQ(limited.retry_after, 60s);
  under_test->SetTime(60s);
  EXPECT_TRUE(limiter.Check(one).allowed());
}

TEST_P(EveryStoreTest, P21_SixCallsInOneInstantPassFive) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  int passed = 0;
  for (int i = 0; i < 6; ++i) passed += limiter.Check("u", 5, 60s).allowed();
  EXPECT_EQ(passed, 5);
}

TEST_P(EveryStoreTest, ResetForgetsUsageOfTheGivenKeysAlone) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("1 per minute; 5 per hour fixed_window").value();
  for (const char* subject : {"user*", "user1"}) {
    EXPECT_TRUE(limiter.Check({.subject = subject, .limits = limits}).allowed());
  }
  EXPECT_EQ(limiter.Reset({.subject = "user*", .limits = limits}).value(), 2);
  EXPECT_TRUE(limiter.Check({.subject = "user*", .limits = limits}).allowed());
  EXPECT_FALSE(limiter.Check({.subject = "user1", .limits = limits}).allowed());
}

INSTANTIATE_TEST_SUITE_P(EveryStore, EveryStoreTest,
                         ::testing::Values(StoreKind::kMemory, StoreKind::kRedis,
                                           StoreKind::kValkey),
                         [](const auto& info) {
                           return (::testing::Message() << info.param).GetString();
                         });

// Redis alone: the server's clock may step back. `now` is then the newest time in the key.
class SteppedBackTest : public ::testing::TestWithParam<StoreKind> {};

TEST_P(SteppedBackTest, NoFreeQuotaAndNoLockOutBeyondTheWindow) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  under_test->SetTime(1h);
  EXPECT_TRUE(limiter.Check("u", 2, 60s).allowed());
  under_test->SetTime(0s);
  EXPECT_TRUE(limiter.Check("u", 2, 60s).allowed());
  const Decision limited = limiter.Check("u", 2, 60s);
  EXPECT_FALSE(limited.allowed());
  EXPECT_EQ(limited.retry_after, 60s);
  const auto fixed = ParseLimits("1 per minute fixed_window").value();
  under_test->SetTime(1h);
  EXPECT_TRUE(limiter.Check({.subject = "f", .limits = fixed}).allowed());
  under_test->SetTime(0s);
  EXPECT_EQ(limiter.Check({.subject = "f", .limits = fixed}).retry_after, 60s);
}

INSTANTIATE_TEST_SUITE_P(RedisAlone, SteppedBackTest,
                         ::testing::Values(StoreKind::kRedis, StoreKind::kValkey),
                         [](const auto& info) {
                           return (::testing::Message() << info.param).GetString();
                         });

}  // namespace
}  // namespace brim::testing

// The same scripts on every store: at, cost -> outcome, remaining, retry_after, reset_after, with
// values one step either side of each edge. What a script says holds for memory, Redis and Valkey
// alike.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>
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
  Op op = Op::kTake;             // kCharge or kRefund
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

    {"P03_TokenBucketLeaksWhileBeingHit",
     "10 per 30 seconds token_bucket",
     {{0s, 1, kAllowed, 9, 0ms, 3s},
      {1s, 1, kAllowed, 8, 0ms, 5s},
      {2s, 1, kAllowed, 7, 0ms, 7s},
      {3s, 1, kAllowed, 7, 0ms, 9s},
      {4s, 1, kAllowed, 6, 0ms, 11s},
      {5s, 1, kAllowed, 5, 0ms, 13s},
      {6s, 1, kAllowed, 5, 0ms, 15s},
      {7s, 1, kAllowed, 4, 0ms, 17s},
      {8s, 1, kAllowed, 3, 0ms, 19s},
      {9s, 1, kAllowed, 3, 0ms, 21s},
      {10s, 1, kAllowed, 2, 0ms, 23s}}},
    {"P33_TokenBucketAfterLongIdleIsFullAndNoMore",
     "1000000 per hour token_bucket",
     {{0s, 1'000'000, kAllowed, 0, 0ms, 1h},
      {12h, 0, kAllowed, 1'000'000, 0ms, 0ms},
      {12h, 1'000'001, kLimited, 1'000'000, kNever, 0ms},
      {12h, 1'000'000, kAllowed, 0, 0ms, 1h},
      {400 * 24h, 1'000'000, kAllowed, 0, 0ms, 1h},
      {400 * 24h, 1, kLimited, 0, 3600us, 1h}}},
    {"P39_TokenBucketBelowASecond",
     "2 per 3 seconds burst 1",
     {{0s, 1, kAllowed, 0, 0ms, 1500ms},
      {1100ms, 1, kLimited, 0, 400ms, 400ms},
      {1499999us, 1, kLimited, 0, 1us, 1us},
      {1500ms, 1, kAllowed, 0, 0ms, 1500ms}}},
    {"P39_TokenBucketOfHalfASecond",
     "2 per second burst 1",
     {{0s, 1, kAllowed, 0, 0ms, 500ms},
      {499ms, 1, kLimited, 0, 1ms, 1ms},
      {500ms, 1, kAllowed, 0, 0ms, 500ms}}},
    {"T5_TokenBucketOfAMonthGivesBackADay",
     "100 per 31 days token_bucket",
     {{0s, 100, kAllowed, 0, 0ms, 31 * 24h},
      {24h, 0, kAllowed, 3, 0ms, 30 * 24h},
      {24h, 3, kAllowed, 0, 0ms, 30 * 24h + 3 * 26784s},
      {24h, 1, kLimited, 0, 4 * 26784s - 24h, 30 * 24h + 3 * 26784s}}},
    {"TokenBucketBurstAndSteadyRate",
     "3 per second burst 2",  // a third of a second, as an exact fraction
     {{0s, 2, kAllowed, 0, 0ms, 666667us},
      {333333us, 1, kLimited, 0, 1us, 333334us},
      {333334us, 1, kAllowed, 0, 0ms, 666666us},
      {666666us, 1, kLimited, 0, 1us, 333334us},
      {666667us, 1, kAllowed, 0, 0ms, 666667us},
      {1s, 3, kLimited, 1, kNever, 333334us}}},
    {"TokenBucketKeepsItsDebtInUnitsWhenTheLimitChanges",
     "10 per 10 seconds token_bucket",
     {{0s, 6, kAllowed, 4, 0ms, 6s},
      {0s, 1, kAllowed, 13, 0ms, 3500ms, "20 per 10 seconds token_bucket"},
      {0s, 5, kLimited, 0, 30s, 35s, "2 per 10 seconds burst 6"},
      {5s, 1, kLimited, 0, 5s, 30s},
      {10s, 1, kAllowed, 0, 0ms, 30s}}},
    {"TokenBucketCountAllStopsAtOneBurst",
     "2 per 2 seconds token_bucket",
     {{0s, 2, kAllowed, 0, 0ms, 2s},
      {500ms, 1, kLimited, 0, 1s, 2s},
      {500ms, 1, kLimited, 0, 1s, 2s},
      {1500ms, 1, kAllowed, 0, 0ms, 2s}},
     Count::kAll},
    {"TokenBucketChargeGoesPastAndRefundGivesBack",
     "2 per 2 seconds token_bucket",
     {{0s, 5, kAllowed, 0, 0ms, 5s, nullptr, Op::kCharge},
      {0s, 1, kLimited, 0, 4s, 5s},
      {0s, 4, kAllowed, 1, 0ms, 1s, nullptr, Op::kRefund},
      {0s, 1, kAllowed, 0, 0ms, 2s},
      {0s, 100, kAllowed, 2, 0ms, 0ms, nullptr, Op::kRefund}}},
    {"P01_TokenBucketOfZeroNeverFits",
     "0 per minute token_bucket",
     {{0s, 1, kLimited, 0, kNever, 0ms}, {0s, 0, kLimited, 0, kNever, 0ms}}},
    {"P23_CounterOfOne",
     "1 per 10 seconds sliding_window_counter",
     {{0s, 1, kAllowed, 0, 0ms, 20s},
      {5s, 1, kLimited, 0, 15s, 15s},
      {20s, 1, kAllowed, 0, 0ms, 20s}}},
    {"CounterWeighsThePreviousWindow",
     "10 per 10 seconds sliding_window_counter",
     {{0s, 10, kAllowed, 0, 0ms, 20s},
      {9999ms, 1, kLimited, 0, 1001ms, 10001ms},
      {10s, 1, kLimited, 0, 1s, 10s},
      {10999ms, 1, kLimited, 0, 1ms, 9001ms},
      {11s, 1, kAllowed, 0, 0ms, 19s},
      {11s, 2, kLimited, 0, 2s, 19s},
      {13s, 2, kAllowed, 0, 0ms, 17s},
      {15s, 8, kLimited, 2, 5s + 3333ms + 1ms, 15s},
      {40s, 10, kAllowed, 0, 0ms, 20s}}},
    {"CounterChargeAndRefund",
     "10 per 10 seconds sliding_window_counter",
     {{0s, 15, kAllowed, 0, 0ms, 20s, nullptr, Op::kCharge},
      {10s, 6, kAllowed, 1, 0ms, 10s, nullptr, Op::kRefund},  // of the previous window
      {10s, 1, kAllowed, 0, 0ms, 20s},
      {10s, 10, kAllowed, 10, 0ms, 0ms, nullptr, Op::kRefund},
      {10s, 1, kAllowed, 10, 0ms, 0ms, nullptr, Op::kRefund}}},
    {"AlignedWindowsBeginAtWholeMultiples",
     "2 per minute fixed_window aligned",  // the test starts at a whole day
     {{59s, 2, kAllowed, 0, 0ms, 1s},
      {59999ms, 1, kLimited, 0, 1ms, 1ms},
      {60s, 1, kAllowed, 1, 0ms, 60s},
      {119s, 1, kAllowed, 0, 0ms, 1s},
      {120s, 0, kAllowed, 2, 0ms, 0ms}}},
    {"WeightedLogTakesCostsUpToTheLimit",
     "1000 per 10 seconds weighted",
     {{0s, 600, kAllowed, 400, 0ms, 10s},
      {1s, 300, kAllowed, 100, 0ms, 10s},
      {1s, 50, kAllowed, 50, 0ms, 10s},
      {2s, 51, kLimited, 50, 8s, 9s},
      {2s, 650, kLimited, 50, 8s, 9s},
      {2s, 651, kLimited, 50, 9s, 9s},
      {2s, 1001, kLimited, 50, kNever, 9s},
      {9999ms, 51, kLimited, 50, 1ms, 1001ms},
      {10s, 51, kAllowed, 599, 0ms, 10s},
      {11s, 949, kAllowed, 0, 0ms, 10s}}},
    {"WeightedLogRefundsTheOldestUnits",
     "100 per 10 seconds weighted",
     {{0s, 40, kAllowed, 60, 0ms, 10s},
      {1s, 40, kAllowed, 20, 0ms, 10s},
      {1s, 30, kAllowed, 50, 0ms, 10s, nullptr, Op::kRefund},
      {1s, 60, kLimited, 50, 9s, 10s},  // ten are left of 0 s
      {1s, 20, kAllowed, 70, 0ms, 10s, nullptr, Op::kRefund},
      {1s, 80, kLimited, 70, 10s, 10s},  // all are of 1 s now
      {1s, 999, kAllowed, 100, 0ms, 0ms, nullptr, Op::kRefund},
      {1s, 100, kAllowed, 0, 0ms, 10s}}},
    {"WeightedLogChargeGoesPastTheLimit",
     "10 per 10 seconds weighted",
     {{0s, 8, kAllowed, 2, 0ms, 10s},
      {1s, 8, kAllowed, 0, 0ms, 10s, nullptr, Op::kCharge},
      {1s, 1, kLimited, 0, 9s, 10s},
      {10s, 2, kAllowed, 0, 0ms, 10s}}},
    {"P05_RefundStaysWithinWhatWasUsed",
     "10 per minute",
     {{0s, 3, kAllowed, 7, 0ms, 60s},
      {1s, 5, kAllowed, 10, 0ms, 0ms, nullptr, Op::kRefund},
      {1s, 1, kAllowed, 10, 0ms, 0ms, nullptr, Op::kRefund},
      {1s, 10, kAllowed, 0, 0ms, 60s}}},
    {"P05_RefundOfAFixedWindow",
     "10 per minute fixed_window",
     {{0s, 1, kAllowed, 10, 0ms, 0ms, nullptr, Op::kRefund},
      {0s, 3, kAllowed, 7, 0ms, 60s},
      {1s, 2, kAllowed, 9, 0ms, 59s, nullptr, Op::kRefund},
      {1s, 5, kAllowed, 10, 0ms, 0ms, nullptr, Op::kRefund},
      {2s, 1, kAllowed, 9, 0ms, 60s}}},
    {"RefundTakesTheOldestUnitsOfALog",
     "3 per 10 seconds",
     {{0s, 1, kAllowed, 2, 0ms, 10s},
      {1s, 1, kAllowed, 1, 0ms, 10s},
      {2s, 1, kAllowed, 0, 0ms, 10s},
      {3s, 1, kAllowed, 1, 0ms, 9s, nullptr, Op::kRefund},
      {3s, 1, kAllowed, 0, 0ms, 10s},
      {3s, 1, kLimited, 0, 8s, 10s}}},  // that of 1 s is the oldest now
    {"ChargeOfALogGoesPastTheLimit",
     "2 per 10 seconds",
     {{0s, 4, kAllowed, 0, 0ms, 10s, nullptr, Op::kCharge},
      {1s, 1, kAllowed, 0, 0ms, 10s, nullptr, Op::kCharge},
      {1s, 1, kLimited, 0, 9s, 10s},
      {10s, 1, kAllowed, 0, 0ms, 10s}}},
    {"P07_CostAboveTheLimitIsNeverStored",
     "5 per minute token_bucket; 100 per hour",
     {{0s, 10, kLimited, 5, kNever, 0ms}, {0s, 0, kAllowed, 5, 0ms, 0ms}}},
    {"EveryAlgorithmInOneCheck",
     "10 per second token_bucket; 20 per minute fixed_window; 30 per hour; 40 per day "
     "sliding_window_counter; 500 per week weighted",
     {{0s, 10, kAllowed, 0, 0ms, 1s},
      {0s, 1, kLimited, 0, 100ms, 1s},
      {1s, 10, kAllowed, 0, 0ms, 1s},
      {2s, 1, kLimited, 0, 58s, 58s},
      {60s, 10, kAllowed, 0, 0ms, 1s},
      {120s, 1, kLimited, 0, 3480s, 3540s},
      {120s, 5, kAllowed, 5, 0ms, 3540s, nullptr, Op::kRefund}}},
};

std::vector<Limit> LimitsOf(const Script& script, const char* text) {
  std::vector<Limit> limits;
  for (const Limit& parsed : ParseLimits(text).value()) {
    LimitSpec spec{.units = parsed.units(),
                   .window = parsed.window(),
                   .algorithm = parsed.algorithm(),
                   .anchor = parsed.anchor(),
                   .mode = parsed.mode(),
                   .weighted = parsed.weighted()};
    const bool bucket = spec.algorithm == Algorithm::kTokenBucket;
    if (bucket) spec.burst = parsed.burst();
    if (bucket || spec.algorithm == Algorithm::kFixedWindow) spec.count = script.count;
    if (spec.algorithm == Algorithm::kFixedWindow) spec.key = script.key;
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
    const CheckRequest request{.subject = "u", .limits = limits, .cost = step.cost};
    const Decision got = step.op == Op::kCharge   ? limiter.Charge(request)
                         : step.op == Op::kRefund ? limiter.Refund(request)
                                                  : limiter.Check(request);
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

TEST_P(EveryStoreTest, P25_ResetClearsAllPartsOfACounter) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("3 per minute sliding_window_counter").value();
  const CheckRequest one{.subject = "user*", .limits = limits};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.Check(one).allowed());
  EXPECT_TRUE(limiter.Check({.subject = "user1", .limits = limits}).allowed());
  under_test->SetTime(61s);  // both of its windows count something now, or the first alone
  EXPECT_EQ(limiter.Reset(one).value(), 1);
  EXPECT_EQ(limiter.Check(one).remaining, 2);
  EXPECT_EQ(limiter.Check({.subject = "user1", .limits = limits, .cost = 0}).remaining, 2);
}

// A receipt gives back exactly what its check took, and only once.
TEST_P(EveryStoreTest, ReceiptFindsItsOwnUnits) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  for (const char* text :
       {"5 per minute", "5 per minute fixed_window", "5 per minute sliding_window_counter"}) {
    SCOPED_TRACE(text);
    const auto limits = ParseLimits(text).value();
    const CheckRequest two{.subject = text, .limits = limits, .cost = 2};
    const CheckRequest one{.subject = text, .limits = limits};
    Receipt receipt;
    EXPECT_TRUE(limiter.Check(two, receipt).allowed());
    EXPECT_FALSE(receipt.empty());
    EXPECT_TRUE(limiter.Check(one).allowed());
    EXPECT_EQ(limiter.Refund(two, std::move(receipt)).remaining, 4);
    EXPECT_TRUE(receipt.empty());  // NOLINT(bugprone-use-after-move): that is the point
    EXPECT_EQ(limiter.Refund(two, std::move(receipt)).remaining, 4);
    Receipt refused;
    EXPECT_FALSE(limiter.Check({.subject = text, .limits = limits, .cost = 5}, refused).allowed());
    EXPECT_TRUE(refused.empty());
  }
}

TEST_P(EveryStoreTest, ReceiptOfALogLeavesOlderUnitsAlone) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("3 per 10 seconds").value();
  const CheckRequest one{.subject = "u", .limits = limits};
  EXPECT_TRUE(limiter.Check(one).allowed());
  under_test->SetTime(4s);
  Receipt receipt;
  EXPECT_TRUE(limiter.Check(one, receipt).allowed());
  under_test->SetTime(5s);
  EXPECT_EQ(limiter.Refund(one, std::move(receipt)).remaining, 2);
  EXPECT_EQ(limiter.Check({.subject = "u", .limits = limits, .cost = 3}).retry_after, 5s);
}

TEST_P(EveryStoreTest, ReceiptOfAnEarlierWindowGivesBackNothing) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto fixed = ParseLimits("5 per 10 seconds fixed_window").value();
  const auto counter = ParseLimits("5 per 10 seconds sliding_window_counter").value();
  const auto log = ParseLimits("5 per 10 seconds").value();
  std::vector<Receipt> receipts(3);
  const std::vector<Limit>* all[] = {&fixed, &counter, &log};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(limiter.Check({.subject = "u", .limits = *all[i]}, receipts[i]).allowed());
  }
  under_test->SetTime(20s);
  for (int i = 0; i < 3; ++i) {
    const CheckRequest one{.subject = "u", .limits = *all[i]};
    EXPECT_EQ(limiter.Check(one).remaining, 4);
    EXPECT_EQ(limiter.Refund(one, std::move(receipts[i])).remaining, 4);
  }
}

TEST_P(EveryStoreTest, ReceiptOfABucketGivesBackWhatIsStillOwed) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("10 per 10 seconds token_bucket").value();
  const CheckRequest four{.subject = "u", .limits = limits, .cost = 4};
  Receipt receipt;
  EXPECT_TRUE(limiter.Check(four, receipt).allowed());
  under_test->SetTime(3s);  // three of the four are paid off
  EXPECT_EQ(limiter.Check({.subject = "u", .limits = limits, .cost = 5}).remaining, 4);
  EXPECT_EQ(limiter.Refund(four, std::move(receipt)).remaining, 5);
}

TEST_P(EveryStoreTest, ShadowLineThatDidNotFitIsNotGivenBack) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("1 per minute shadow; 5 per hour").value();
  const CheckRequest one{.subject = "u", .limits = limits};
  EXPECT_TRUE(limiter.Check(one).allowed());
  Receipt receipt;
  EXPECT_TRUE(limiter.Check(one, receipt).allowed());  // the shadow line has no room
  const Decision after = limiter.Refund(one, std::move(receipt));
  EXPECT_EQ(after.lines[0].remaining, 0);
  EXPECT_EQ(after.lines[1].remaining, 4);
}

TEST_P(EveryStoreTest, BatchAnswersEachInOrder) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("100 per minute; 1000 per day token_bucket").value();
  std::vector<CheckRequest> requests;
  std::vector<std::string> subjects;
  for (int i = 0; i < 10; ++i) subjects.push_back("u" + std::to_string(i));
  for (int i = 0; i < 1005; ++i) {
    requests.push_back({.subject = subjects[i % 10], .limits = limits, .cost = i == 7 ? -1 : 1});
  }
  std::vector<Decision> decisions(requests.size());
  limiter.CheckBatch(requests, decisions);
  EXPECT_EQ(decisions[7].reason, Reason::kInvalidLimit);
  for (int i = 0; i < 1005; ++i) {
    if (i == 7) continue;
    const int before = i / 10 - (i % 10 == 7 ? 1 : 0);
    EXPECT_EQ(decisions[i].allowed(), before < 100) << i;
    EXPECT_EQ(decisions[i].remaining, std::max(0, 99 - before)) << i;
  }
}

// Costs are exact up to the bound of every limit, and nothing is charged beyond it.
TEST_P(EveryStoreTest, CostsOfZeroNegativeAndHugeAreAnswered) {
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  for (const char* text :
       {"1000000000 per day", "1000000000 per day fixed_window", "1000000000 per day token_bucket",
        "1000000000 per day weighted", "100000000 per day sliding_window_counter"}) {
    SCOPED_TRACE(text);
    const auto limits = ParseLimits(text).value();
    const Units most = limits[0].capacity();
    const bool log = std::string_view(text) == "1000000000 per day";
    const auto check = [&](Units cost) {
      return limiter.Check({.subject = "u", .limits = limits, .cost = cost});
    };
    EXPECT_EQ(check(-1).reason, Reason::kInvalidLimit);
    EXPECT_EQ(check(INT64_MIN).reason, Reason::kInvalidLimit);
    EXPECT_EQ(check(INT64_MAX).reason, Reason::kCostExceedsLimit);
    EXPECT_EQ(check(most + 1).reason, Reason::kCostExceedsLimit);
    EXPECT_EQ(check(0).remaining, most);
    EXPECT_EQ(check(65).reason, log ? Reason::kInvalidLimit : Reason::kWithinLimit);
    EXPECT_EQ(check(log ? 64 : most - 65).remaining, log ? most - 64 : 0);
  }
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
  EXPECT_EQ(limited.reset_after, 60s);
  for (const auto& [text, wait] : {std::pair{"1 per minute", 60s},
                                   {"1 per minute weighted", 60s},
                                   {"1 per minute fixed_window", 60s},
                                   {"1 per minute token_bucket", 60s},
                                   {"1 per minute sliding_window_counter", 120s}}) {
    SCOPED_TRACE(text);
    const auto limits = ParseLimits(text).value();
    under_test->SetTime(1h);
    EXPECT_TRUE(limiter.Check({.subject = "v", .limits = limits}).allowed());
    under_test->SetTime(0s);
    const Decision behind = limiter.Check({.subject = "v", .limits = limits});
    EXPECT_FALSE(behind.allowed());
    EXPECT_EQ(behind.retry_after, wait);
    EXPECT_EQ(behind.reset_after, wait);
  }
}

// take_logs.lua spares commands by what it knows of a log's expiry. take.lua, which a wanted
// receipt asks for, does not: on logs of their own both give the same answers, wherever time steps
// and whoever takes the expiry away.
TEST_P(SteppedBackTest, BothScriptsOfALogAgree) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const auto limits = ParseLimits("3 per 5 ms; 5 per 20 ms; 9 per minute").value();
  const auto under_test = MakeStoreUnderTest(GetParam());
  Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  Micros now{1h};
  for (int i = 0; i < 1500; ++i) {
    SCOPED_TRACE(i);
    const Micros steps[] = {0us, 1us, 1ms, 1ms, 5ms, 7ms, 20ms, -1ms, -4ms, -7ms, 61s, -30s, 60s};
    now += steps[random() % std::size(steps)];
    under_test->SetTime(now);
    if (random() % 40 == 0) under_test->LoseTtls();
    Receipt receipt;
    const Decision short_cut = limiter.Check({.subject = "a", .limits = limits});
    const Decision general = limiter.Check({.subject = "b", .limits = limits}, receipt);
    ASSERT_EQ(short_cut.outcome, general.outcome);
    ASSERT_EQ(short_cut.remaining, general.remaining);
    ASSERT_EQ(short_cut.retry_after, general.retry_after);
    ASSERT_EQ(short_cut.lines.size(), general.lines.size());
    for (std::size_t n = 0; n < general.lines.size(); ++n) {
      ASSERT_EQ(short_cut.lines[n].remaining, general.lines[n].remaining) << n;
      ASSERT_EQ(short_cut.lines[n].reset_after, general.lines[n].reset_after) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RedisAlone, SteppedBackTest,
                         ::testing::Values(StoreKind::kRedis, StoreKind::kValkey),
                         [](const auto& info) {
                           return (::testing::Message() << info.param).GetString();
                         });

}  // namespace
}  // namespace brim::testing

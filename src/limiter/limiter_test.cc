#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include <brim/testing.h>
#include "limiter/match.h"

namespace brim {
namespace {

using namespace std::chrono_literals;

std::vector<Limit> Limits(std::string_view text) { return ParseLimits(text).value(); }

// A store that never answers but with an error.
class BrokenStore final : public Store {
 public:
  explicit BrokenStore(ErrorCode code) : code_(code) {}
  void Run(const Request&, Micros, Done done) override {
    ++calls;
    done(Error{code_, "broken", ""});
  }
  void Reset(std::span<const Key>, Micros, ResetDone done) override {
    done(Error{code_, "broken", ""});
  }
  int calls = 0;

 private:
  const ErrorCode code_;
};

class LimiterTest : public testing::Test {
 protected:
  ManualClock clock_;
  MemoryStore store_{{.clock = &clock_}};
  Limiter limiter_{store_};
};

TEST_F(LimiterTest, OneLineFormAllowsThenLimits) {
  for (int left = 4; left >= 0; --left) {
    const Decision decision = limiter_.Check("user_8421", 5, 60s);
    EXPECT_TRUE(decision.allowed());
    EXPECT_EQ(decision.reason, Reason::kWithinLimit);
    EXPECT_EQ(decision.remaining, left);
    EXPECT_EQ(decision.limit, 5);
    EXPECT_EQ(decision.window, 60s);
  }
  clock_.Advance(1s);
  const Decision limited = limiter_.Check("user_8421", 5, 60s);
  EXPECT_FALSE(limited.allowed());
  EXPECT_EQ(limited.reason, Reason::kOverLimit);
  EXPECT_EQ(limited.retry_after, 59s);
  clock_.Advance(limited.retry_after - 1ms);
  EXPECT_FALSE(limiter_.Check("user_8421", 5, 60s).allowed());
  clock_.Advance(1ms);
  EXPECT_TRUE(limiter_.Check("user_8421", 5, 60s).allowed());
}

TEST_F(LimiterTest, OneLineFormAnswersNonsense) {
  for (const Decision& decision :
       {limiter_.Check("", 5, 60s), limiter_.Check("u", -1, 60s), limiter_.Check("u", 5, 0s),
        limiter_.Check("u", 5, -1s), limiter_.Check("u", 5, std::chrono::hours(24 * 3650)),
        limiter_.Check("u", INT64_MAX, 60s), limiter_.Check("u", 5, 1500us)}) {
    EXPECT_FALSE(decision.allowed());
    EXPECT_EQ(decision.reason, Reason::kInvalidLimit);
  }
  EXPECT_EQ(store_.stats().keys, 0u);
}

TEST_F(LimiterTest, LooksAtTheShortestWindowFirstInWhateverOrderTheyAreGiven) {
  std::vector<Limit> limits = Limits("2 per minute; 100 per day");
  std::reverse(limits.begin(), limits.end());
  EXPECT_EQ(limiter_.Check({.subject = "u", .limits = limits}).window, 1min);
  limiter_.Check({.subject = "u", .limits = limits});
  const Decision limited = limiter_.Check({.subject = "u", .limits = limits});
  EXPECT_FALSE(limited.allowed());
  EXPECT_EQ(limited.window, 1min);
  EXPECT_EQ(limited.lines.size(), 1u);  // the day was not looked at
  const Decision peek = limiter_.Check({.subject = "u", .limits = limits, .cost = 0});
  ASSERT_EQ(peek.lines.size(), 2u);
  EXPECT_EQ(peek.lines[1].remaining, 98);
  EXPECT_FALSE(peek.allowed());
}

TEST_F(LimiterTest, P09_MinuteCounterShowsWhatPassed) {
  for (const bool reversed : {false, true}) {
    std::vector<Limit> limits = Limits("10 per second; 100 per minute");
    if (reversed) std::reverse(limits.begin(), limits.end());
    const std::string subject = reversed ? "b" : "a";
    int passed = 0;
    for (int i = 0; i < 30; ++i) {
      passed += limiter_.Check({.subject = subject, .limits = limits}).allowed();
    }
    EXPECT_EQ(passed, 10);
    const auto peek = limiter_.Check({.subject = subject, .limits = limits, .cost = 0});
    EXPECT_EQ(peek.lines[1].remaining, 90);
  }
}

TEST_F(LimiterTest, P11_RaiseMidWindowKeepsUsage) {
  const auto ten = Limits("10 per hour fixed_window");
  const auto twenty = Limits("20 per hour fixed_window");
  int passed = 0;
  for (int i = 0; i < 50; ++i) passed += limiter_.Check({.subject = "u", .limits = ten}).allowed();
  EXPECT_EQ(passed, 10);
  passed = 0;
  for (int i = 0; i < 50; ++i)
    passed += limiter_.Check({.subject = "u", .limits = twenty}).allowed();
  EXPECT_EQ(passed, 10);
}

TEST_F(LimiterTest, P01_LimitZeroIsACleanRejection) {
  for (const char* text : {"0 per minute", "0 per minute fixed_window"}) {
    const auto limits = Limits(text);
    for (int i = 0; i < 2; ++i) {
      const Decision decision = limiter_.Check({.subject = "u", .limits = limits});
      EXPECT_FALSE(decision.allowed());
      EXPECT_EQ(decision.reason, Reason::kCostExceedsLimit);
      EXPECT_EQ(decision.remaining, 0);
      EXPECT_EQ(decision.retry_after, kNever);
    }
  }
  EXPECT_EQ(store_.stats().keys, 0u);
}

TEST_F(LimiterTest, DescribesTheLineWithTheLeastRemaining) {
  const auto limits = Limits("10 per minute; 3 per day");
  const Decision decision = limiter_.Check({.subject = "u", .limits = limits});
  EXPECT_EQ(decision.limit, 3);
  EXPECT_EQ(decision.remaining, 2);
  EXPECT_EQ(decision.window, 24h);
  EXPECT_EQ(decision.line, 1);
}

TEST_F(LimiterTest, ShadowRefusesNobodyAndIsReported) {
  const auto limits = Limits("1 per minute shadow; 5 per day");
  EXPECT_TRUE(limiter_.Check({.subject = "u", .limits = limits}).allowed());
  const Decision second = limiter_.Check({.subject = "u", .limits = limits});
  EXPECT_TRUE(second.allowed());
  EXPECT_EQ(second.reason, Reason::kWithinLimit);
  EXPECT_TRUE(second.lines[0].would_deny());
  EXPECT_FALSE(second.lines[1].would_deny());
  EXPECT_EQ(second.limit, 5);
  const auto alone = Limits("1 per minute shadow");
  const Decision only_shadow = limiter_.Check({.subject = "u", .limits = alone});
  EXPECT_TRUE(only_shadow.allowed());
  EXPECT_EQ(only_shadow.reason, Reason::kShadow);
  EXPECT_EQ(only_shadow.retry_after, 0s);
}

TEST_F(LimiterTest, OffLimitsAreNotLookedAt) {
  const std::vector<Limit> limits = {Limits("0 per minute")[0].WithMode(Mode::kOff)};
  const Decision decision = limiter_.Check({.subject = "u", .limits = limits});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.reason, Reason::kNoRule);
}

TEST_F(LimiterTest, NoLimitsMeansNoRule) {
  const Decision decision = limiter_.Check({.subject = "u", .limits = {}});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.reason, Reason::kNoRule);
  EXPECT_EQ(decision.line, -1);
}

TEST_F(LimiterTest, CostsAreCheckedInTheStatedOrder) {
  const auto limits = Limits("100 per minute");
  const auto check = [&](Units cost) {
    return limiter_.Check({.subject = "u", .limits = limits, .cost = cost});
  };
  EXPECT_EQ(check(-1).reason, Reason::kInvalidLimit);
  EXPECT_EQ(check(65).reason, Reason::kInvalidLimit);  // could fit, but not as single entries
  EXPECT_EQ(check(101).reason, Reason::kCostExceedsLimit);
  EXPECT_EQ(check(INT64_MAX).reason, Reason::kCostExceedsLimit);
  EXPECT_EQ(check(64).remaining, 36);
  const Decision limited = check(37);
  EXPECT_EQ(limited.reason, Reason::kOverLimit);
  EXPECT_EQ(limited.remaining, 36);
  const auto why = limiter_.Validate({.subject = "u", .limits = limits, .cost = 65});
  ASSERT_FALSE(why);
  EXPECT_EQ(why.error().field, "cost");
}

TEST_F(LimiterTest, RefusesTwoLimitsUnderOneKey) {
  const std::vector<Limit> limits = {Limits("5 per minute")[0], Limits("6 per minute")[0]};
  const auto why = limiter_.Validate({.subject = "u", .limits = limits});
  ASSERT_FALSE(why);
  EXPECT_EQ(why.error().field, "limits");
  EXPECT_EQ(limiter_.Check({.subject = "u", .limits = limits}).reason, Reason::kInvalidLimit);
  const std::vector<Limit> seventeen(17, Limits("5 per minute")[0]);
  EXPECT_EQ(limiter_.Validate({.subject = "u", .limits = seventeen}).error().field, "limits");
}

TEST_F(LimiterTest, A5_TierSwitchChangesTheBudgetAlone) {
  const auto free = Limits("5 per minute");
  const auto pro = Limits("60 per minute");
  for (int i = 0; i < 6; ++i) limiter_.Check({.subject = "u", .limits = free});
  EXPECT_EQ(store_.stats().keys, 1u);
  const Decision upgraded = limiter_.Check({.subject = "u", .limits = pro});
  EXPECT_TRUE(upgraded.allowed());
  EXPECT_EQ(upgraded.remaining, 54);  // the five of `free` count
  EXPECT_EQ(store_.stats().keys, 1u);
  EXPECT_FALSE(limiter_.Check({.subject = "u", .limits = free}).allowed());
}

TEST_F(LimiterTest, ScopesAreKeptApart) {
  const auto limits = Limits("1 per minute");
  EXPECT_TRUE(limiter_.Check({.subject = "u", .limits = limits}).allowed());
  EXPECT_TRUE(limiter_.Check({.subject = "u", .limits = limits, .scope = "chat"}).allowed());
  EXPECT_FALSE(limiter_.Check({.subject = "u", .limits = limits, .scope = "chat"}).allowed());
}

TEST_F(LimiterTest, ItemsCountForTheirOwnSubjectScopeAndCost) {
  const auto own = Limits("3 per minute; 100 per day");
  const LimitItem cap{.limit = Limits("10 per minute token_bucket")[0],
                      .subject = "upstream:openai",
                      .scope = "",
                      .cost = 4};
  const auto check = [&](std::string_view subject, Units cost) {
    return limiter_.Check(
        {.subject = subject, .limits = own, .cost = cost, .scope = "chat", .items = {&cap, 1}});
  };
  EXPECT_TRUE(check("a", 1).allowed());
  const Decision second = check("b", 1);
  ASSERT_EQ(second.lines.size(), 3u);  // shortest first, of equal windows the request's own
  EXPECT_EQ(second.lines[0].limit.units(), 3);
  EXPECT_EQ(second.lines[0].remaining, 2);
  EXPECT_EQ(second.lines[1].remaining, 2);
  EXPECT_EQ(second.lines[2].limit.units(), 100);
  const Decision refused = check("b", 1);  // by the cap that both share
  EXPECT_EQ(refused.limit, 10);
  EXPECT_EQ(refused.remaining, 2);
  EXPECT_EQ(check("b", 0).lines[0].remaining, 2);  // the refusal charged nothing
  EXPECT_TRUE(check("b", 0).allowed());            // a peek asks for one unit of each
  EXPECT_EQ(limiter_.Check({.subject = "upstream:openai", .limits = {&cap.limit, 1}, .cost = 0})
                .remaining,
            2);
}

TEST_F(LimiterTest, ValidatesForTheOperationThatIsMeant) {
  const auto limits = Limits("5 per minute");
  const auto field = [&](Units cost, Op op) {
    const auto valid = limiter_.Validate({.subject = "u", .limits = limits, .cost = cost}, op);
    return valid ? "" : valid.error().field;
  };
  EXPECT_EQ(field(0, Op::kPeek), "");
  EXPECT_EQ(field(0, Op::kCharge), "cost");
  EXPECT_EQ(field(0, Op::kRefund), "cost");
  EXPECT_EQ(field(65, Op::kTake), "") << "it never fits, which is an answer";
  EXPECT_EQ(field(65, Op::kCharge), "cost");
}

TEST_F(LimiterTest, ItemsWithoutSubjectScopeOrCostTakeTheRequests) {
  const auto limits = Limits("5 per minute");
  const LimitItem item{.limit = limits[0]};
  limiter_.Check({.subject = "u", .cost = 2, .scope = "chat", .items = {&item, 1}});
  EXPECT_EQ(limiter_.Check({.subject = "u", .limits = limits, .scope = "chat"}).remaining, 2);
  const LimitItem free_of_charge{.limit = limits[0], .cost = 0};
  const auto why = limiter_.Validate({.subject = "u", .items = {&free_of_charge, 1}});
  ASSERT_FALSE(why);
  EXPECT_EQ(why.error().field, "cost");
}

TEST_F(LimiterTest, ResetForgetsTheGivenLimitsAlone) {
  const auto minute = Limits("1 per minute");
  const auto both = Limits("1 per minute; 2 per day");
  limiter_.Check({.subject = "u", .limits = both});
  limiter_.Check({.subject = "u", .limits = both, .scope = "chat"});
  EXPECT_EQ(limiter_.Reset({.subject = "u", .limits = minute}).value(), 1);
  EXPECT_EQ(limiter_.Reset({.subject = "u", .limits = minute}).value(), 0);
  EXPECT_EQ(limiter_.Check({.subject = "u", .limits = both, .cost = 0}).lines[1].remaining, 1);
  EXPECT_FALSE(limiter_.Check({.subject = "u", .limits = both, .scope = "chat"}).allowed());
  const Limit off = minute[0].WithMode(Mode::kOff);
  EXPECT_EQ(limiter_.Reset({.subject = "u", .limits = {&off, 1}}).value(), 0);
  EXPECT_EQ(limiter_.Reset({.subject = "", .limits = both}).error().field, "subject");
}

TEST_F(LimiterTest, A8_KillSwitchAllowsEverythingAndTouchesNoStore) {
  BrokenStore broken(ErrorCode::kUnavailable);
  Limiter limiter(broken, {.kill_switch = true});
  const auto limits = Limits("5 per minute; 100 per day");
  for (int i = 0; i < 10; ++i) {
    const Decision decision = limiter.Check({.subject = "u", .limits = limits});
    EXPECT_TRUE(decision.allowed());
    EXPECT_EQ(decision.reason, Reason::kKillSwitch);
    EXPECT_EQ(decision.limit, 5);
    EXPECT_EQ(decision.remaining, 5);
    EXPECT_EQ(decision.retry_after, 0s);
  }
  EXPECT_EQ(limiter.Check("u", 0, 60s).remaining, 0);
  EXPECT_TRUE(limiter.Check("u", 0, 60s).allowed());
  EXPECT_TRUE(limiter.Check("", -1, 0s).allowed());
  EXPECT_EQ(broken.calls, 0);
  limiter.SetKillSwitch(false);
  limiter.Check({.subject = "u", .limits = limits});
  EXPECT_EQ(broken.calls, 1);
}

TEST(LimiterKillSwitchTest, A8_IsReadFromTheEnvironment) {
  MemoryStore store;
  for (const auto& [value, on] :
       {std::pair{"true", true}, {"1", true}, {"false", false}, {"", false}}) {
    ASSERT_EQ(setenv("RATE_LIMIT_DISABLED", value, 1), 0);
    EXPECT_EQ(Limiter(store).kill_switch(), on) << value;
  }
  ASSERT_EQ(setenv("RATE_LIMIT_DISABLED", "true", 1), 0);
  EXPECT_FALSE(Limiter(store, {.kill_switch = false}).kill_switch());
  unsetenv("RATE_LIMIT_DISABLED");
}

TEST(LimiterFailureTest, LocalDecidesWithTheShareOfThisNode) {
  BrokenStore broken(ErrorCode::kUnavailable);
  Limiter limiter(broken, {.nodes = 2});
  const auto limits = Limits("5 per minute");
  int passed = 0;
  for (int i = 0; i < 10; ++i) {
    const Decision decision = limiter.Check({.subject = "u", .limits = limits});
    EXPECT_EQ(decision.reason, Reason::kDegradedLocal);
    EXPECT_EQ(decision.store_error, StoreError::kUnavailable);
    EXPECT_EQ(decision.limit, 2);
    passed += decision.allowed();
  }
  EXPECT_EQ(passed, 2);
  EXPECT_FALSE(limiter.Check("zero", 0, 60s).allowed());
  Limiter many(broken, {.nodes = 100});
  EXPECT_TRUE(many.Check({.subject = "u", .limits = limits}).allowed());  // at least one
}

TEST(LimiterFailureTest, OpenAllowsAndClosedRefuses) {
  BrokenStore broken(ErrorCode::kUnknown);
  const auto limits = Limits("5 per minute");
  Limiter open(broken, {.on_failure = OnFailure::kOpen});
  const Decision allowed = open.Check({.subject = "u", .limits = limits});
  EXPECT_TRUE(allowed.allowed());
  EXPECT_EQ(allowed.reason, Reason::kFailOpen);
  EXPECT_EQ(allowed.store_error, StoreError::kUnknown);
  Limiter closed(broken, {.on_failure = OnFailure::kClosed});
  const Decision refused = closed.Check({.subject = "u", .limits = limits});
  EXPECT_FALSE(refused.allowed());
  EXPECT_EQ(refused.reason, Reason::kFailClosed);
  EXPECT_EQ(refused.retry_after, 1s);
  EXPECT_EQ(closed.Reset({.subject = "u", .limits = limits}).error().code, ErrorCode::kUnknown);
}

TEST(LimiterFailureTest, WrongOptionsAreToldNotCrashedOn) {
  MemoryStore store;
  Limiter limiter(store, {.key_prefix = std::string(1000, 'x')});
  EXPECT_EQ(limiter.Check("u", 5, 60s).reason, Reason::kInvalidLimit);
  EXPECT_FALSE(limiter.Validate({.subject = "u"}));
  EXPECT_FALSE(Limiter::ValidateOptions({.nodes = 0}));
  EXPECT_FALSE(Limiter::ValidateOptions({.store_timeout = 0ms}));
  EXPECT_TRUE(Limiter::ValidateOptions({}));
}

TEST(LimiterAsyncTest, AnswersMayComeAfterTheLimiterIsGone) {
  // Answers when told to.
  class SlowStore final : public Store {
   public:
    void Run(const Request& request, Micros, Done done) override {
      lines = request.lines.size();
      waiting = std::move(done);
    }
    void Reset(std::span<const Key>, Micros, ResetDone) override {}
    std::size_t lines = 0;
    Done waiting;
  } slow;
  std::optional<Decision> decision;
  {
    Limiter limiter(slow);
    const auto limits = Limits("5 per minute");
    limiter.CheckAsync({.subject = "u", .limits = limits},
                       [&decision](const Decision& answer) { decision = answer; });
  }
  EXPECT_EQ(slow.lines, 1u);
  EXPECT_FALSE(decision.has_value());
  slow.waiting(Error{ErrorCode::kUnavailable, "late", ""});
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->reason, Reason::kDegradedLocal);
}

TEST(LimiterRetryAfterTest, RoundsUpToWholeSecondsAndMillis) {
  EXPECT_EQ(RetryAfterSeconds(0us), 0);
  EXPECT_EQ(RetryAfterSeconds(1us), 1);
  EXPECT_EQ(RetryAfterSeconds(1s), 1);
  EXPECT_EQ(RetryAfterSeconds(1s + 1us), 2);
  EXPECT_EQ(RetryAfterSeconds(kNever), std::nullopt);
  EXPECT_EQ(RetryAfterMillis(1us), 1);
  EXPECT_EQ(RetryAfterMillis(1000us), 1);
  EXPECT_EQ(RetryAfterMillis(1001us), 2);
}

}  // namespace
}  // namespace brim

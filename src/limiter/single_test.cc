// The short way of the commonest check answers as the long one does, which a check that wants a
// receipt goes.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include <brim/testing.h>

namespace brim {
namespace {

using namespace std::chrono_literals;

void ExpectSame(const Decision& one, const Decision& other) {
  EXPECT_EQ(one.outcome, other.outcome);
  EXPECT_EQ(one.reason, other.reason);
  EXPECT_EQ(one.limit, other.limit);
  EXPECT_EQ(one.remaining, other.remaining);
  EXPECT_EQ(one.window, other.window);
  EXPECT_EQ(one.retry_after, other.retry_after);
  EXPECT_EQ(one.reset_after, other.reset_after);
  EXPECT_EQ(one.line, other.line);
  ASSERT_EQ(one.lines.size(), other.lines.size());
  for (std::size_t n = 0; n < one.lines.size(); ++n) {
    EXPECT_EQ(one.lines[n].fit, other.lines[n].fit);
    EXPECT_EQ(one.lines[n].cost, other.lines[n].cost);
    EXPECT_EQ(one.lines[n].remaining, other.lines[n].remaining);
    EXPECT_EQ(one.lines[n].retry_after, other.lines[n].retry_after);
    EXPECT_EQ(one.lines[n].reset_after, other.lines[n].reset_after);
  }
}

// A limiter on a store and a clock of its own.
struct Side {
  ManualClock clock;
  MemoryStore store{{.clock = &clock}};
  Limiter limiter{store, {.kill_switch = false}};
};

TEST(SingleTest, AnswersAsTheLongWay) {
  const char* const texts[] = {"3 per second",
                               "0 per minute",
                               "70 per 2 seconds weighted",
                               "5 per second fixed_window",
                               "4 per 3 seconds fixed_window aligned",
                               "6 per second token_bucket",
                               "7 per 2 seconds burst 3",
                               "100000000 per day burst 9",
                               "5 per second sliding_window_counter",
                               "5 per second shadow"};
  std::vector<Limit> limits;
  for (const char* text : texts) limits.push_back(ParseLimit(text).value());
  LimitSpec spec{.units = 4, .window = 1s, .algorithm = Algorithm::kTokenBucket};
  spec.count = Count::kAll;
  limits.push_back(Limit::Create(spec).value());
  spec.algorithm = Algorithm::kFixedWindow;
  limits.push_back(Limit::Create(spec).value());

  Side short_way;
  Side long_way;
  Side batch;
  std::mt19937_64 random(20261201);
  for (int n = 0; n < 200'000; ++n) {
    const std::string_view subjects[] = {"u", "user_8421", "user:{8421}", "a user of sixteen", ""};
    const Limit& limit = limits[random() % limits.size()];
    const CheckRequest request{
        .subject = subjects[random() % 41 % std::size(subjects)],
        .limits = {&limit, 1},
        .cost = static_cast<Units>(random() % 41 == 0 ? random() % 200 : 1 + random() % 3),
        .scope = random() % 3 == 0 ? "chat" : ""};
    Receipt receipt;
    const Decision expected = long_way.limiter.Check(request, receipt);
    ExpectSame(short_way.limiter.Check(request), expected);
    Decision in_batch;
    batch.limiter.CheckBatch({&request, 1}, {&in_batch, 1});
    ExpectSame(in_batch, expected);
    if (HasFailure()) FAIL() << "step " << n << ", " << FormatLimit(limit);
    const auto step = Micros(random() % 10 == 0 ? random() % 1'000'000 : random() % 1'000);
    for (Side* side : {&short_way, &long_way, &batch}) side->clock.Advance(step);
  }
}

}  // namespace
}  // namespace brim

#include "policy/limit_grammar.h"

#include <chrono>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brim/limit.h>
#include "base/limits.h"

namespace brim {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using testing::HasSubstr;
using enum Algorithm;

struct Accepted {
  std::string text;
  Units units;
  Micros window;
  Algorithm algorithm = kSlidingWindow;
  Mode mode = Mode::kEnforce;
};
const Accepted kAccepted[] = {
    {"5 per minute", 5, 60s},
    {"5 / minute", 5, 60s},
    {"5/min", 5, 60s},
    {"100 per 15m", 100, 15min},
    {"100 per 15 minutes", 100, 15min},
    {"100 per15m", 100, 15min},
    {"100/15m", 100, 15min},
    {"5 per 1 minutes", 5, 60s},
    {"5 per 2 minute", 5, 2min},
    {"  5   PER   Minute  ", 5, 60s},
    {"5PER MINUTE", 5, 60s},
    {"007 per 01 day", 7, 24h},
    // Every name of every unit.
    {"1/ms", 1, 1ms},
    {"1/s", 1, 1s},
    {"1/sec", 1, 1s},
    {"1/second", 1, 1s},
    {"1/seconds", 1, 1s},
    {"1/m", 1, 60s},
    {"1/min", 1, 60s},
    {"1/minute", 1, 60s},
    {"1/minutes", 1, 60s},
    {"1/h", 1, 1h},
    {"1/hour", 1, 1h},
    {"1/hours", 1, 1h},
    {"1/d", 1, 24h},
    {"1/day", 1, 24h},
    {"1/days", 1, 24h},
    {"1/w", 1, days(7)},
    {"1/week", 1, days(7)},
    {"1/weeks", 1, days(7)},
    // The edges of the numbers.
    {"0 per minute", 0, 60s},
    {"999999999/s", 999'999'999, 1s},
    {"1000000000/s", 1'000'000'000, 1s},
    {"1 per 1 ms", 1, 1ms},
    {"1 per 366 days", 1, days(366)},
    {"1 per 52 w", 1, days(364)},
    {"1 per 31622400000 ms", 1, days(366)},
    {"1 per 31622399999 ms", 1, days(366) - 1ms},
    // Options, in any order.
    {"10/second fixed_window", 10, 1s, kFixedWindow},
    {"10/second sliding_window", 10, 1s},
    {"10/second shadow", 10, 1s, kSlidingWindow, Mode::kShadow},
    {"10/second fixed_window shadow", 10, 1s, kFixedWindow, Mode::kShadow},
    {"10/second shadow fixed_window", 10, 1s, kFixedWindow, Mode::kShadow},
    {"10/SECOND Shadow FIXED_Window", 10, 1s, kFixedWindow, Mode::kShadow},
};

TEST(LimitGrammarTest, ReadsEveryForm) {
  for (const Accepted& want : kAccepted) {
    SCOPED_TRACE(want.text);
    const Result<Limit> got = ParseLimit(want.text);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->units(), want.units);
    EXPECT_EQ(got->window(), want.window);
    EXPECT_EQ(got->algorithm(), want.algorithm);
    EXPECT_EQ(got->mode(), want.mode);
    EXPECT_EQ(got->count(), Count::kAdmitted);
    EXPECT_EQ(got->key(), KeyForm::kFull);
  }
}

struct Refused {
  std::string text;
  std::string message;  // a part of it
};
const Refused kRefused[] = {
    {"", "found the end at position 1, expected a whole number of units"},
    {"   ", "found the end at position 4"},
    {"minute", "found 'minute' at position 1, expected a whole number"},
    {"5", "found the end at position 2, expected '/' or 'per'"},
    {"5 per", "found the end at position 6, expected a unit of time (w, week, weeks, d, day,"},
    {"5 minute", "found 'minute' at position 3, expected '/' or 'per'"},
    {"5 pre minute",
     "found 'pre' at position 3, expected '/' or 'per' behind the units; did you mean 'per'? "
     "Example: "},
    {"5 per per minute", "found 'per' at position 7, expected a unit of time"},
    {"5 perminute", "found 'perminute' at position 3"},
    {"5 per minuet", "did you mean 'minute'?"},
    {"5 per mins", "did you mean 'min'?"},
    {"5 per month", "found 'month' at position 7, expected a unit of time"},
    {"5 per _", "found '_' at position 7"},
    {"5 per 5", "found the end at position 8, expected a unit of time"},
    {"5 per 5 5 minutes", "found '5' at position 9, expected a unit of time"},
    // Numbers.
    {"-5 per minute", "found '-' at position 1, expected a whole number of units without sign"},
    {"+5 per minute", "found '+' at position 1, expected a whole number of units without sign"},
    {"5.5 per minute", "found '.' at position 2"},
    {"1,000 per minute", "found ',' at position 2"},
    {"0x10 per minute", "found 'x' at position 2"},
    {"1e3 per minute", "found 'e' at position 2"},
    {"1000000001/s",
     "found '1000000001' at position 1, expected a whole number of units without "
     "sign, 0 to 1000000000"},
    {"9223372036854775807/s", "0 to 1000000000"},
    {"9223372036854775808/s", "0 to 1000000000"},
    {"18446744073709551621/s", "0 to 1000000000"},  // 2^64 + 5
    {std::string(1000, '9') + "/s", "...' at position 1, expected a whole number"},
    {"1 per 0 minutes", "found '0' at position 7, expected a window of 1 ms to 366 days"},
    {"1 per 0ms", "1 ms to 366 days"},
    {"1 per -1 ms", "found '-' at position 7"},
    {"1 per 367 days", "found '367' at position 7, expected a window of 1 ms to 366 days"},
    {"1 per 53 weeks", "1 ms to 366 days"},
    {"1 per 31622400001 ms", "1 ms to 366 days"},
    {"1 per 9223372036854775808 weeks", "1 ms to 366 days"},
    {"1 per 30500568904945 weeks", "1 ms to 366 days"},  // overflows 64 bits of microseconds
    // Options.
    {"5 per minute leaky_bucket",
     "found 'leaky_bucket' at position 14, expected the end, ';' or "
     "an option (sliding_window, fixed_window, token_bucket, sliding_window_counter, burst, "
     "aligned, weighted, shadow)"},
    {"5 per minute fixed", "did you mean 'fixed_window'?"},
    {"5 per minute sliding-window", "did you mean 'sliding_window'?"},
    {"5 per minute shadwo", "did you mean 'shadow'?"},
    {"5 per minute shadow shadow", "found 'shadow' at position 21, expected one word for the mode"},
    {"5 per minute fixed_window sliding_window", "expected one word for the algorithm"},
    {"5 per minute 5", "found '5' at position 14, expected the end, ';' or an option"},
    {"5 per minute per hour", "found 'per' at position 14"},
    {"shadow 5 per minute", "found 'shadow' at position 1"},
    // Bytes.
    {std::string("5 per minute\0", 13), "found '\\x00' at position 13"},
    {"5\tper minute", "found '\\x09' at position 2"},
    {"5 per minute\n", "found '\\x0a' at position 13"},
    {"5 per m\xc3\xaenute", "found '\\xc3' at position 8"},
    {"\xff", "found '\\xff' at position 1"},
    {"5 per \x7f", "found '\\x7f' at position 7"},
    {"5 per 'minute'", "found ''' at position 7"},
};

TEST(LimitGrammarTest, RefusesWithWordPlaceAndExample) {
  for (const Refused& want : kRefused) {
    SCOPED_TRACE(want.text);
    const Result<Limit> got = ParseLimit(want.text);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(got.error().field, "limit");
    EXPECT_THAT(got.error().message, HasSubstr(want.message));
    EXPECT_THAT(got.error().message, HasSubstr("Example: \"5 per minute"));
    EXPECT_FALSE(ParseLimits(want.text).ok());
  }
}

TEST(LimitGrammarTest, BurstMeansATokenBucketUnlessAnotherIsNamed) {
  const Limit burst = ParseLimit("10/second burst 20").value();
  EXPECT_EQ(burst.algorithm(), Algorithm::kTokenBucket);
  EXPECT_EQ(burst.burst(), 20);
  EXPECT_EQ(ParseLimit("10/second BURST 20 token_bucket")->burst(), 20);
  EXPECT_EQ(ParseLimit("10/second token_bucket")->burst(), 10);
  EXPECT_EQ(ParseLimit("10/second burst 20", kFixedWindow)->algorithm(), Algorithm::kTokenBucket);
  for (const char* wrong :
       {"10/second burst", "10/second burst -1", "10/second burst x", "10/second burst 1000000001",
        "10/second burst 20 fixed_window", "10/second burst 1 burst 2", "0/second burst 1"}) {
    const auto got = ParseLimit(wrong);
    ASSERT_FALSE(got.ok()) << wrong;
    EXPECT_THAT(got.error().message, HasSubstr("burst")) << wrong;
  }
}

TEST(LimitGrammarTest, AlignedAndWeighted) {
  EXPECT_EQ(ParseLimit("5/hour fixed_window aligned")->anchor(), Anchor::kAligned);
  EXPECT_TRUE(ParseLimit("5/hour weighted")->weighted());
  EXPECT_FALSE(ParseLimit("5/hour aligned").ok());
  EXPECT_FALSE(ParseLimit("5/hour fixed_window weighted").ok());
  EXPECT_TRUE(ParseLimits("5/hour; 500/hour weighted").ok());  // two logs, two keys
}

TEST(LimitGrammarTest, EveryFormRoundTrips) {
  for (const char* text : {"10 per second burst 20", "10 per second token_bucket",
                           "10 per 2 hours fixed_window aligned shadow", "9 per day weighted",
                           "7 per 15 minutes sliding_window_counter"}) {
    EXPECT_EQ(FormatLimit(ParseLimit(text).value()), text);
  }
}

TEST(LimitGrammarTest, UsesTheGivenAlgorithmWhereNoneIsNamed) {
  EXPECT_EQ(ParseLimit("5/s", kFixedWindow)->algorithm(), kFixedWindow);
  EXPECT_EQ(ParseLimit("5/s sliding_window", kFixedWindow)->algorithm(), kSlidingWindow);
  EXPECT_EQ(ParseLimits("5/s", kFixedWindow)->front().algorithm(), kFixedWindow);
  const Result<Limit> got = ParseLimit("5/s", Algorithm{200});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().field, "limit");
  EXPECT_THAT(got.error().message, HasSubstr("algorithm"));
}

TEST(LimitGrammarTest, OneLimitIsOneLimit) {
  for (const char* text : {"5 per minute;", "5 per minute; 6 per hour"}) {
    const Result<Limit> got = ParseLimit(text);
    ASSERT_FALSE(got.ok());
    EXPECT_THAT(got.error().message, HasSubstr("found ';' at position 13, expected the end"));
  }
}

TEST(LimitGrammarTest, SortsShortestWindowFirstAndKeepsEqualOnesInOrder) {
  const auto limits =
      ParseLimits("100 per day; 7/min fixed_window; 5 per minute; 1 per 60 ms;2/hour;").value();
  std::vector<std::string> texts;
  for (const Limit& limit : limits) texts.push_back(FormatLimit(limit));
  EXPECT_THAT(texts, testing::ElementsAre("1 per 60 ms", "7 per minute fixed_window",
                                          "5 per minute", "2 per hour", "100 per day"));
}

TEST(LimitGrammarTest, RefusesListsWithHoles) {
  const Refused kLists[] = {{";", "found ';' at position 1"},
                            {"5/s;;", "found ';' at position 5, expected a whole number"},
                            {"5/s; ;6/m", "found ';' at position 6"},
                            {";5/s", "found ';' at position 1"},
                            {"5/s; ; ", "found ';' at position 6"},
                            {"5/s, 6/m", "found ',' at position 4"},
                            {"5/s 6/m", "found '6' at position 5"}};
  for (const auto& [text, message] : kLists) {
    SCOPED_TRACE(text);
    const auto got = ParseLimits(text);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().field, "limit");
    EXPECT_THAT(got.error().message, HasSubstr(message));
  }
  EXPECT_TRUE(ParseLimits("5/s;").ok());
  EXPECT_TRUE(ParseLimits("5/s ; ").ok());
}

TEST(LimitGrammarTest, RefusesTwoLimitsThatWouldShareAKey) {
  for (const char* text : {"5/m; 6/m", "5/m; 9/h; 5/m", "5/m; 6 per 60 s shadow",
                           "5/m fixed_window; 7/h; 6 per 60000 ms fixed_window"}) {
    const auto got = ParseLimits(text);
    ASSERT_FALSE(got.ok()) << text;
    EXPECT_EQ(got.error().field, "limit");
    EXPECT_THAT(got.error().message, HasSubstr("share one key"));
  }
  EXPECT_TRUE(ParseLimits("5/m; 5/m fixed_window").ok());
  EXPECT_TRUE(ParseLimits("5/m; 5 per 59s; 5 per 61s").ok());
}

TEST(LimitGrammarTest, TakesAtMostKMaxLinesLimits) {
  std::string text;
  for (std::size_t i = 1; i <= kMaxLines; ++i) text += "5 per " + std::to_string(i) + "s;";
  ASSERT_TRUE(ParseLimits(text).ok());
  EXPECT_EQ(ParseLimits(text)->size(), kMaxLines);
  const auto got = ParseLimits(text + "5 per hour");
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("at most 16 limits"));
}

TEST(LimitGrammarTest, TakesTextsUpToTheirMaximum) {
  std::string text = "5/s";
  text.resize(limits::kMaxLimitTextBytes, ' ');
  EXPECT_TRUE(ParseLimit(text).ok());
  EXPECT_TRUE(ParseLimits(text).ok());
  for (const std::size_t size : {limits::kMaxLimitTextBytes + 1, std::size_t{1} << 16}) {
    text.resize(size, ' ');
    ASSERT_FALSE(ParseLimit(text).ok());
    ASSERT_FALSE(ParseLimits(text).ok());
    EXPECT_EQ(ParseLimit(text).error().field, "limit");
    EXPECT_THAT(ParseLimit(text).error().message, HasSubstr("at most 1024"));
  }
}

TEST(LimitGrammarTest, EveryMessageIsShortPrintableAscii) {
  std::mt19937 random(20'261'130);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "5 per minute shadow";
    text[random() % text.size()] = static_cast<char>(random());
    text[random() % text.size()] = static_cast<char>(random());
    const Result<Limit> got = ParseLimit(text);
    if (got.ok()) continue;
    EXPECT_LT(got.error().message.size(), 300u);
    for (const char c : got.error().message) ASSERT_TRUE(c >= ' ' && c <= '~') << text;
  }
}

TEST(LimitGrammarTest, ReadsBackWhatFormatLimitWrites) {
  std::mt19937_64 random(8421);
  for (int i = 0; i < 20'000; ++i) {
    const WindowUnit& unit = kWindowUnits[random() % std::size(kWindowUnits)];
    const std::int64_t most = Limit::kMaxWindow / unit.length;
    const std::int64_t count = 1 + static_cast<std::int64_t>(random() % 200) % most;
    const Limit limit = Limit::Create({.units = static_cast<Units>(random() % 1'000'000'001),
                                       .window = count * unit.length,
                                       .algorithm = random() % 2 ? kSlidingWindow : kFixedWindow,
                                       .mode = random() % 2 ? Mode::kShadow : Mode::kEnforce})
                            .value();
    const std::string text = FormatLimit(limit);
    const Result<Limit> back = ParseLimit(text);
    ASSERT_TRUE(back.ok()) << text;
    EXPECT_EQ(back->units(), limit.units()) << text;
    EXPECT_EQ(back->window(), limit.window()) << text;
    EXPECT_EQ(back->algorithm(), limit.algorithm()) << text;
    EXPECT_EQ(back->mode(), limit.mode()) << text;
  }
}

}  // namespace
}  // namespace brim

#include <chrono>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <brim/limit.h>

namespace brim {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr LimitSpec kGood = {.units = 5, .window = 60s};

LimitSpec With(void (*change)(LimitSpec&)) {
  LimitSpec spec = kGood;
  change(spec);
  return spec;
}

TEST(LimitTest, KeepsWhatItWasCreatedFrom) {
  const Limit limit = Limit::Create({.units = 7,
                                     .window = 1500ms,
                                     .algorithm = Algorithm::kFixedWindow,
                                     .count = Count::kAll,
                                     .mode = Mode::kShadow,
                                     .key = KeyForm::kPlain})
                          .value();
  EXPECT_EQ(limit.units(), 7);
  EXPECT_EQ(limit.capacity(), 7);
  EXPECT_EQ(limit.window(), 1500ms);
  EXPECT_EQ(limit.algorithm(), Algorithm::kFixedWindow);
  EXPECT_EQ(limit.anchor(), Anchor::kFirstHit);
  EXPECT_EQ(limit.count(), Count::kAll);
  EXPECT_EQ(limit.mode(), Mode::kShadow);
  EXPECT_EQ(limit.key(), KeyForm::kPlain);
}

TEST(LimitTest, AcceptsTheEdges) {
  for (const Units units : {Units{0}, Units{1}, Limit::kMaxUnits}) {
    EXPECT_TRUE(Limit::Create({.units = units, .window = 60s}).ok()) << units;
  }
  for (const Micros window :
       {Micros(1ms), Micros(2ms), Micros(days(366)) - 1ms, Micros(days(366))}) {
    EXPECT_TRUE(Limit::Create({.units = 1, .window = window}).ok()) << window.count();
  }
}

struct Refused {
  const char* name;
  LimitSpec spec;
  const char* field;
  const char* remedy;  // part of the message
};
const Refused kRefused[] = {
    {"UnitsMinusOne", With([](auto& s) { s.units = -1; }), "units", "0 to 1000000000"},
    {"UnitsLeast", With([](auto& s) { s.units = std::numeric_limits<Units>::min(); }), "units",
     "0 to 1000000000"},
    {"UnitsOneTooMany", With([](auto& s) { s.units = 1'000'000'001; }), "units", "0 to 1000000000"},
    {"WindowZero", With([](auto& s) { s.window = 0s; }), "window", "1 ms to 366 days"},
    {"WindowNegative", With([](auto& s) { s.window = -60s; }), "window", "1 ms to 366 days"},
    {"WindowUnderOneMs", With([](auto& s) { s.window = 999us; }), "window", "1 ms to 366 days"},
    {"WindowNotWholeMs", With([](auto& s) { s.window = 1001us; }), "window", "whole milliseconds"},
    {"WindowOneMsTooLong", With([](auto& s) { s.window = days(366) + 1ms; }), "window",
     "1 ms to 366 days"},
    {"WindowTenYears", With([](auto& s) { s.window = days(3650); }), "window", "1 ms to 366 days"},
    {"WindowLargest", With([](auto& s) { s.window = Micros::max(); }), "window",
     "1 ms to 366 days"},
    {"CountAllOfALog", With([](auto& s) { s.count = Count::kAll; }), "count", "fixed_window"},
    {"PlainKeyOfALog", With([](auto& s) { s.key = KeyForm::kPlain; }), "key", "fixed_window"},
    {"NoSuchAlgorithm", With([](auto& s) { s.algorithm = Algorithm{4}; }), "algorithm", "known"},
    {"NoSuchAnchor", With([](auto& s) { s.anchor = Anchor{2}; }), "anchor", "known"},
    {"NoSuchCount", With([](auto& s) { s.count = Count{2}; }), "count", "known"},
    {"NoSuchMode", With([](auto& s) { s.mode = Mode{3}; }), "mode", "known"},
    {"NoSuchKey", With([](auto& s) { s.key = KeyForm{255}; }), "key", "known"},
};

class LimitRefusedTest : public testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(All, LimitRefusedTest, testing::ValuesIn(kRefused),
                         [](const auto& param) { return std::string(param.param.name); });

TEST_P(LimitRefusedTest, NamesFieldAndRemedy) {
  const Result<Limit> limit = Limit::Create(GetParam().spec);
  ASSERT_FALSE(limit.ok());
  EXPECT_EQ(limit.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(limit.error().field, GetParam().field);
  EXPECT_NE(limit.error().message.find(GetParam().remedy), std::string::npos)
      << limit.error().message;
}

TEST(LimitTest, AShareIsAtLeastOneUnlessTheLimitIsZero) {
  const auto share = [](std::string_view text, std::int64_t nodes) {
    return ParseLimit(text).value().ShareOf(nodes);
  };
  EXPECT_EQ(share("5 per minute", 2).units(), 2);
  EXPECT_EQ(share("5 per minute", 5).units(), 1);
  EXPECT_EQ(share("5 per minute", 100).units(), 1);
  EXPECT_EQ(share("0 per minute", 2).units(), 0);
  EXPECT_EQ(share("10 per minute burst 4", 2).burst(), 2);
  EXPECT_EQ(share("10 per minute burst 4", 8).burst(), 1);
}

TEST(LimitTest, TokenBucketsAreReducedFractions) {
  const Limit limit = ParseLimit("1000000 per hour token_bucket").value();
  EXPECT_EQ(limit.interval(), 3600);
  EXPECT_EQ(limit.ticks_per_us(), 1);
  EXPECT_EQ(limit.capacity(), 1'000'000);
  const Limit thirds = ParseLimit("3 per second burst 7").value();
  EXPECT_EQ(thirds.interval(), 1'000'000);
  EXPECT_EQ(thirds.ticks_per_us(), 3);
  EXPECT_EQ(thirds.capacity(), 7);
}

TEST(LimitTest, WhatCannotBeExactIsRefused) {
  const auto field = [](LimitSpec spec) {
    const auto limit = Limit::Create(spec);
    return limit ? std::string() : limit.error().field;
  };
  // interval 999,999,937 is prime, so it reduces nothing: 366 days are 3.16 * 10^13 us.
  LimitSpec fine{
      .units = 999'999'937, .window = Limit::kMaxWindow, .algorithm = Algorithm::kTokenBucket};
  EXPECT_EQ(field(fine), "burst");
  fine.burst = (std::int64_t{1} << 53) / Limit::kMaxWindow.count();
  EXPECT_EQ(field(fine), "");
  ++*fine.burst;
  EXPECT_EQ(field(fine), "burst");
  LimitSpec counter{.units = (std::int64_t{1} << 53) / 86'400'000,
                    .window = std::chrono::hours(24),
                    .algorithm = Algorithm::kSlidingWindowCounter};
  EXPECT_EQ(field(counter), "");
  ++counter.units;
  EXPECT_EQ(field(counter), "units");
  EXPECT_EQ(field({.units = 0,
                   .window = std::chrono::seconds(1),
                   .algorithm = Algorithm::kTokenBucket,
                   .burst = 1}),
            "burst");
  EXPECT_EQ(field({.units = 1, .window = std::chrono::seconds(1), .burst = 1}), "burst");
  EXPECT_EQ(field({.units = 1, .window = std::chrono::seconds(1), .anchor = Anchor::kAligned}),
            "anchor");
  EXPECT_EQ(field({.units = 1,
                   .window = std::chrono::seconds(1),
                   .algorithm = Algorithm::kFixedWindow,
                   .weighted = true}),
            "weighted");
  EXPECT_EQ(field({.units = 1,
                   .window = std::chrono::seconds(1),
                   .algorithm = Algorithm::kSlidingWindowCounter,
                   .count = Count::kAll}),
            "count");
  EXPECT_EQ(field({.units = 1,
                   .window = std::chrono::seconds(1),
                   .algorithm = Algorithm::kTokenBucket,
                   .count = Count::kAll}),
            "");
}

TEST(LimitTest, WithModeChangesTheModeAlone) {
  const Limit limit = Limit::Create(kGood).value().WithMode(Mode::kOff);
  EXPECT_EQ(limit.mode(), Mode::kOff);
  EXPECT_EQ(limit.units(), 5);
  EXPECT_EQ(limit.window(), 60s);
}

TEST(LimitTest, NamesWindowsByTheLargestUnitThatDivides) {
  const std::pair<Micros, const char*> kNames[] = {
      {1ms, "1ms"},        {700ms, "700ms"},     {1s, "second"},   {1500ms, "1500ms"},
      {59s, "59s"},        {60s, "minute"},      {61s, "61s"},     {90s, "90s"},
      {15min, "15m"},      {59min, "59m"},       {60min, "hour"},  {90min, "90m"},
      {2h, "2h"},          {24h, "day"},         {36h, "36h"},     {days(3), "3d"},
      {days(7), "week"},   {days(8), "8d"},      {days(14), "2w"}, {days(366), "366d"},
      {days(365), "365d"}, {Micros(1us), "1us"}, {0s, "0us"}};
  for (const auto& [window, name] : kNames) EXPECT_EQ(WindowName(window), name);
}

TEST(LimitTest, FormatsAsPeopleWrite) {
  const auto Format = [](const LimitSpec& spec) {
    return FormatLimit(Limit::Create(spec).value());
  };
  EXPECT_EQ(Format({.units = 5, .window = 60s}), "5 per minute");
  EXPECT_EQ(Format({.units = 100, .window = 24h}), "100 per day");
  EXPECT_EQ(Format({.units = 0, .window = 1ms}), "0 per ms");
  EXPECT_EQ(Format({.units = 3, .window = 700ms}), "3 per 700 ms");
  EXPECT_EQ(Format({.units = 10, .window = 15min, .algorithm = Algorithm::kFixedWindow}),
            "10 per 15 minutes fixed_window");
  EXPECT_EQ(Format({.units = 10, .window = days(14), .mode = Mode::kShadow}),
            "10 per 2 weeks shadow");
}

TEST(LimitTest, NamesAlgorithms) {
  const std::pair<Algorithm, std::string_view> kNames[] = {
      {Algorithm::kSlidingWindow, "sliding_window"},
      {Algorithm::kFixedWindow, "fixed_window"},
      {Algorithm::kTokenBucket, "token_bucket"},
      {Algorithm::kSlidingWindowCounter, "sliding_window_counter"}};
  for (const auto& [algorithm, name] : kNames) {
    EXPECT_EQ(AlgorithmName(algorithm), name);
    EXPECT_EQ(ParseAlgorithm(name), algorithm);
  }
  EXPECT_EQ(ParseAlgorithm("leaky_bucket"), std::nullopt);
}

}  // namespace
}  // namespace brim

// The Redis store behind real sentinels: it finds the primary, and follows a failover.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "redis/sentinel.h"
#include "support/sentinels.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

const LimiterOptions kPatient{.store_timeout = 5s, .on_failure = OnFailure::kClosed};

TEST(SentinelTest, ReadsWhatASwitchTells) {
  EXPECT_EQ(redis::ParseSwitch("m 10.0.0.1 6379 10.0.0.2 6380", "m"),
            (redis::Endpoint{.host = "10.0.0.2", .port = 6380}));
  for (const char* text :
       {"", "m", "other 10.0.0.1 6379 10.0.0.2 6380", "m 10.0.0.1 6379 10.0.0.2",
        "m 10.0.0.1 6379 10.0.0.2 0", "m 10.0.0.1 6379 10.0.0.2 6380 x", "m 10.0.0.1 6379  6380"}) {
    EXPECT_FALSE(redis::ParseSwitch(text, "m")) << text;
  }
}

bool ToldOfTheSwitch(SentinelTrio& trio) {
  return trio.sentinel(0)
             .Command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SentinelTrio::kMaster)
             .find(std::to_string(trio.replica().port())) != std::string::npos;
}

// Runs checks of one subject until the failover is over and the time is up; none may be admitted
// beyond the limit, but those whose charge the old primary took and the new one never saw.
TEST(SentinelTest, R07_ADeadPrimaryIsFollowedWithinASecondOfTheSwitch) {
  constexpr int kLimit = 200;
  SentinelTrio trio;
  const auto store = OpenStore(trio.url()).value();
  Limiter limiter(*store, {.on_failure = OnFailure::kClosed});
  ASSERT_TRUE(Limiter(*store, kPatient).Check("warm-up", 5, 60s).allowed());
  int passed = 0;
  for (int i = 0; i < kLimit / 2; ++i) passed += limiter.Check("u", kLimit, 600s).allowed();
  trio.primary().Command("WAIT", "1", "1000");
  trio.primary().Kill();
  const auto killed = Steady::now();
  const auto promoted = [&] { return trio.replica().Info("replication", "role") == "master"; };
  while (!promoted()) {
    const Decision decision = limiter.Check("u", kLimit, 600s);
    passed += decision.allowed();
    ASSERT_LT(Steady::now() - killed, 30s);
    std::this_thread::sleep_for(1ms);
  }
  // Sentinels tell of the switch only when they have agreed, a moment after the promotion.
  auto switched = Steady::now();
  while (!ToldOfTheSwitch(trio)) {
    switched = Steady::now();
    ASSERT_LT(switched - killed, 40s);
    std::this_thread::sleep_for(1ms);
  }
  while (limiter.Check("probe", 1'000'000, 60s).reason != Reason::kWithinLimit) {
    ASSERT_LT(Steady::now() - switched, 1s);
    std::this_thread::sleep_for(1ms);
  }
  // The old one comes back as what it was: nobody asks it.
  trio.primary().Start();
  trio.primary().Command("CONFIG", "RESETSTAT");
  for (int i = 0; i < 2 * kLimit; ++i) passed += limiter.Check("u", kLimit, 600s).allowed();
  EXPECT_EQ(passed, kLimit);
  EXPECT_EQ(trio.primary().Info("commandstats", "cmdstat_evalsha"), "");
}

TEST(SentinelTest, APlannedFailoverLosesNothing) {
  SentinelTrio trio("of-the-sentinels");
  const auto store = OpenStore(trio.url()).value();
  Limiter limiter(*store, {.store_timeout = 200ms, .on_failure = OnFailure::kClosed});
  ASSERT_TRUE(Limiter(*store, kPatient).Check("warm-up", 5, 60s).allowed());
  int passed = 0;
  for (int i = 0; i < 50; ++i) passed += limiter.Check("u", 100, 600s).allowed();
  ASSERT_EQ(trio.sentinel(0).Command("SENTINEL", "FAILOVER", SentinelTrio::kMaster), "OK");
  const auto start = Steady::now();
  while (!ToldOfTheSwitch(trio)) {
    passed += limiter.Check("u", 100, 600s).allowed();
    ASSERT_LT(Steady::now() - start, 30s);
  }
  for (int i = 0; i < 200; ++i) passed += limiter.Check("u", 100, 600s).allowed();
  const auto end = Steady::now() + 2s;
  while (limiter.Check("probe", 1'000'000, 60s).reason != Reason::kWithinLimit) {
    ASSERT_LT(Steady::now(), end);
  }
  for (int i = 0; i < 200; ++i) passed += limiter.Check("u", 100, 600s).allowed();
  EXPECT_LE(passed, 100);
  trio.replica().Command("PING");  // a sentinel has closed this test's own connection
  EXPECT_EQ(trio.replica().Command("ZCARD", "ratelimit:u:600"), "100");
}

TEST(SentinelTest, AnyOneSentinelIsEnough) {
  SentinelTrio trio;
  const std::string url = trio.url();
  trio.sentinel(0).Pause();
  trio.sentinel(1).Kill();
  const auto store = OpenStore(url).value();
  Limiter limiter(*store);
  const auto start = Steady::now();
  while (limiter.Check("u", 1'000'000, 60s).reason != Reason::kWithinLimit) {
    ASSERT_LT(Steady::now() - start, 2s);
    std::this_thread::sleep_for(1ms);
  }
  trio.sentinel(0).Resume();
}

TEST(SentinelTest, WhatIsWrongIsTold) {
  SentinelTrio trio("secret-of-theirs");
  const auto decide = [](const std::string& url) {
    const auto store = OpenStore(url).value();
    return Limiter(*store, kPatient).Check("u", 5, 60s).store_error;
  };
  const std::string url = trio.url();
  EXPECT_EQ(decide(url), StoreError::kNone);
  const std::string without = url.substr(0, url.find('?'));
  EXPECT_EQ(decide(without), StoreError::kSetup);
  EXPECT_EQ(decide(without + "?sentinel_password=wrong"), StoreError::kSetup);
  const std::size_t name = url.find(SentinelTrio::kMaster);
  EXPECT_EQ(decide(url.substr(0, name) + "nobody" + url.substr(url.find('?'))), StoreError::kSetup);
}

}  // namespace
}  // namespace brim::testing

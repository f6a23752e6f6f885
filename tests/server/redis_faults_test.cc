// The Redis store while servers and networks fail: what callers are told meanwhile, that nothing is
// counted twice, and that all is well within two seconds of the fault's end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "redis/client.h"
#include "store/store_url.h"
#include "support/fault_proxy.h"
#include "support/redis_server.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

// A deadline, and what a busy machine may add to it.
constexpr auto kTimeout = 50ms;
constexpr auto kSlack = 150ms;

std::string UrlOf(std::uint16_t port) { return "redis://127.0.0.1:" + std::to_string(port); }

bool IsBack(Limiter& limiter) {
  return limiter.Check("probe", 1'000'000, 60s).reason == Reason::kWithinLimit;
}

// Whether the store answers again within the two seconds that brim promises.
bool ComesBack(Limiter& limiter) {
  const auto end = Steady::now() + 2s;
  while (!IsBack(limiter)) {
    if (Steady::now() > end) return false;
    std::this_thread::sleep_for(1ms);  // as a caller would be slower than a spin
  }
  return true;
}

// Why a client of this URL is not let in; empty if it is.
std::string WhyNot(const std::string& url) {
  boost::asio::io_context io;
  redis::Client client(io, std::get<redis::ClientOptions>(ParseStoreUrl(url).value()));
  client.Start();
  std::optional<std::string> why;
  client.Run(redis::Command(1).Arg("PING").Take(), 5s,
             [&](Result<redis::Reply> reply) { why = reply ? "" : reply.error().message; });
  while (!why) io.run_one();
  return *why;
}

TEST(RedisFaultsTest, R01_ADeadServerCostsNobodyMoreThanTheTimeout) {
  RedisServer server;
  const auto store = OpenStore(server.url()).value();
  Limiter limiter(*store);
  ASSERT_TRUE(ComesBack(limiter));
  std::atomic<bool> dead = false;
  std::atomic<bool> over = false;
  std::atomic<int> slow = 0;      // waited for most of the timeout
  std::atomic<int> too_slow = 0;  // and for more
  std::atomic<int> silent = 0;    // told nothing of the failure
  std::atomic<int> checks = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      while (!over) {
        const bool was_dead = dead;
        const auto start = Steady::now();
        const Decision decision = limiter.Check("u" + std::to_string(i), 1000, 60s);
        const auto took = Steady::now() - start;
        slow += took > kTimeout * 4 / 5;
        too_slow += took > kTimeout + kSlack;
        silent += was_dead && decision.reason != Reason::kDegradedLocal &&
                  decision.reason != Reason::kOverLimit;
        silent += was_dead && decision.store_error == StoreError::kNone;
        checks += was_dead;
        if (checks > 2000) std::this_thread::sleep_for(1ms);
      }
    });
  }
  std::this_thread::sleep_for(50ms);
  server.Kill();
  dead = true;
  std::this_thread::sleep_for(500ms);
  over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_GT(checks, 1000);
  EXPECT_EQ(silent, 0);
  EXPECT_EQ(too_slow, 0);
  EXPECT_LT(slow, 40) << "of " << checks;
  server.Start();
  EXPECT_TRUE(ComesBack(limiter));
}

TEST(RedisFaultsTest, R03_ALostReplyIsUnknownAndNeverRepeated) {
  RedisServer server;
  FaultProxy proxy(server.port());
  const auto store = OpenStore(UrlOf(proxy.port())).value();
  Limiter limiter(*store);
  ASSERT_TRUE(ComesBack(limiter));
  proxy.Set({.lose_replies = true});
  const auto start = Steady::now();
  const Decision decision = limiter.Check("u", 10, 60s);
  EXPECT_LT(Steady::now() - start, kTimeout + kSlack);
  EXPECT_EQ(decision.store_error, StoreError::kUnknown);
  EXPECT_EQ(decision.reason, Reason::kDegradedLocal);
  proxy.Set({});
  EXPECT_TRUE(ComesBack(limiter));
  EXPECT_EQ(server.Command("ZCARD", "ratelimit:u:60"), "1");
}

TEST(RedisFaultsTest, R05_AScriptFlushUnderLoadCostsOneLoad) {
  RedisServer server;
  const auto store = OpenStore(server.url()).value();
  Limiter limiter(*store, {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  ASSERT_TRUE(ComesBack(limiter));
  std::atomic<int> passed = 0;
  std::atomic<int> failed = 0;
  server.Command("CONFIG", "RESETSTAT");
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      for (int n = 0; n < 500; ++n) {
        if (i == 0 && n == 250) server.Command("SCRIPT", "FLUSH");
        const Decision decision = limiter.Check("u", 1900, 600s);
        passed += decision.allowed();
        failed += decision.store_error != StoreError::kNone;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(passed, 1900);
  EXPECT_TRUE(server.Info("commandstats", "cmdstat_script|load").starts_with("calls=1,"));
}

TEST(RedisFaultsTest, R13_AReplicaIsNamedAndFoundWhenItBecomesAPrimary) {
  RedisServer primary({"--repl-diskless-sync-delay", "0"});
  RedisServer replica({"--replicaof", "127.0.0.1 " + std::to_string(primary.port())});
  while (replica.Info("replication", "master_link_status") != "up") std::this_thread::yield();
  EXPECT_NE(WhyNot(replica.url()).find("give the address of the primary"), std::string::npos)
      << WhyNot(replica.url());
  const auto store = OpenStore(replica.url()).value();
  Limiter limiter(*store);
  const Decision decision = limiter.Check("u", 5, 60s);
  EXPECT_EQ(decision.reason, Reason::kDegradedLocal);
  EXPECT_EQ(decision.store_error, StoreError::kUnavailable);
  replica.Command("REPLICAOF", "NO", "ONE");
  EXPECT_TRUE(ComesBack(limiter));
}

TEST(RedisFaultsTest, R13_APrimaryThatBecomesAReplicaIsLeft) {
  RedisServer primary;
  RedisServer other;
  const auto store = OpenStore(primary.url()).value();
  Limiter limiter(*store, {.on_failure = OnFailure::kClosed});
  ASSERT_TRUE(ComesBack(limiter));
  primary.Command("REPLICAOF", "127.0.0.1", std::to_string(other.port()));
  const Decision decision = limiter.Check("u", 5, 60s);
  EXPECT_EQ(decision.reason, Reason::kFailClosed);
  EXPECT_EQ(decision.store_error, StoreError::kUnavailable);
  primary.Command("REPLICAOF", "NO", "ONE");
  EXPECT_TRUE(ComesBack(limiter));
}

TEST(RedisFaultsTest, R13_AServerThatReadsItsDataIsWaitedFor) {
  RedisServer server(
      {"--key-load-delay", "2000", "--loading-process-events-interval-bytes", "1024"});
  for (int i = 0; i < 500; ++i) {
    server.Command("SET", "filler" + std::to_string(i), std::string(2000, 'x') + std::to_string(i));
  }
  const auto store = OpenStore(server.url()).value();
  Limiter limiter(*store);
  ASSERT_TRUE(ComesBack(limiter));
  server.Command("CONFIG", "SET", "rdbcompression", "no");
  server.Command("SAVE");
  server.Kill();
  server.StartLoading();
  ASSERT_NE(WhyNot(server.url()).find("LOADING"), std::string::npos);
  const Decision decision = limiter.Check("u", 5, 60s);
  EXPECT_EQ(decision.reason, Reason::kDegradedLocal);
  EXPECT_EQ(decision.store_error, StoreError::kUnavailable);
  while (server.Command("PING").starts_with("-LOADING")) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(ComesBack(limiter));
}

TEST(RedisFaultsTest, ANetworkThatFailsIsToldInTimeAndForgottenInTwoSeconds) {
  RedisServer server;
  FaultProxy proxy(server.port());
  const auto store = OpenStore(UrlOf(proxy.port())).value();
  Limiter limiter(*store);
  const std::pair<const char*, Fault> kFaults[] = {{"delay", {.delay = 200ms}},
                                                   {"lost replies", {.lose_replies = true}},
                                                   {"black hole", {.black_hole = true}},
                                                   {"cut", {.cut_after = 3}},
                                                   {"half close", {.half_close = true}}};
  for (const auto& [name, fault] : kFaults) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(ComesBack(limiter));
    const std::string subject = std::string("u-") + name[0];
    proxy.Set(fault);
    int counted = 0;
    int perhaps = 0;
    for (int i = 0; i < 30; ++i) {
      const auto start = Steady::now();
      const Decision decision = limiter.Check(subject, 1000, 60s);
      EXPECT_LT(Steady::now() - start, kTimeout + kSlack);
      counted += decision.store_error == StoreError::kNone;
      perhaps += decision.store_error == StoreError::kUnknown;
    }
    EXPECT_LT(counted, 30);
    proxy.Set({});
    EXPECT_TRUE(ComesBack(limiter));
    const int count = std::stoi(server.Command("ZCARD", "ratelimit:" + subject + ":60"));
    EXPECT_GE(count, counted);
    EXPECT_LE(count, counted + perhaps);
  }
  EXPECT_LT(proxy.accepted(), 150);  // no storm of connections
}

TEST(RedisFaultsTest, RepliesThatDripInAreReadAll) {
  RedisServer server;
  FaultProxy proxy(server.port());
  proxy.Set({.drip = true});
  const auto store = OpenStore(UrlOf(proxy.port())).value();
  Limiter limiter(*store, {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(limiter.Check("u", 10, 60s).remaining, 10 - i);
}

TEST(RedisFaultsTest, APausedServerIsLeftAlone) {
  RedisServer server;
  const auto store = OpenStore(server.url()).value();
  Limiter limiter(*store);
  for (const std::string mode : {"ALL", "WRITE"}) {
    SCOPED_TRACE(mode);
    ASSERT_TRUE(ComesBack(limiter));
    server.Command("CLIENT", "PAUSE", "600", mode);
    int unknown = 0;
    const auto end = Steady::now() + 400ms;
    while (Steady::now() < end) {
      const Decision decision = limiter.Check("u", 1000, 60s);
      EXPECT_NE(decision.store_error, StoreError::kNone);
      unknown += decision.store_error == StoreError::kUnknown;
    }
    EXPECT_LE(unknown, 2);  // the breaker is open: nothing is sent
    std::this_thread::sleep_until(end + 200ms);
    EXPECT_TRUE(ComesBack(limiter));
  }
}

}  // namespace
}  // namespace brim::testing

// The Redis store against real servers, in real time: the requirements that one script call, atomic
// and on the server's clock, has to meet.
#include "store/redis_store.h"

#include <atomic>
#include <chrono>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "support/redis_server.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;

// For tests that must not fall back on anything: what the store does not answer is limited.
const LimiterOptions kPatient{.store_timeout = 5s, .on_failure = OnFailure::kClosed};

std::vector<Limit> Limits(std::string_view text) { return ParseLimits(text).value(); }

std::string Int(std::int64_t n) { return std::to_string(n); }

class RedisStoreTest : public ::testing::TestWithParam<ServerKind> {
 protected:
  RedisStoreTest() : server_({}, GetParam()), store_(OpenStore(server_.url()).value()) {}

  // "calls=17,usec=..." of one command; 0 if it never ran.
  std::int64_t Calls(const std::string& command) {
    const std::string stats = server_.Info("commandstats", "cmdstat_" + command);
    const std::size_t at = stats.find("calls=");
    return at == std::string::npos ? 0 : std::stoll(stats.substr(at + 6));
  }

  RedisServer server_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(EveryServer, RedisStoreTest,
                         ::testing::Values(ServerKind::kRedis, ServerKind::kValkey),
                         [](const auto& info) {
                           return info.param == ServerKind::kRedis ? "Redis" : "Valkey";
                         });

// A store that remembers no refusals: it may answer with none.
TEST_P(RedisStoreTest, A1_OneCheckIsOneScriptExecution) {
  redis::ClientOptions client;
  client.endpoint.port = server_.port();
  RedisStore store({.client = client, .max_refusal_age = 0us});
  Limiter limiter(store, kPatient);
  const auto limits = Limits("5 per minute; 100 per day");
  limiter.Check({.subject = "warm-up", .limits = limits});  // connects, loads the script
  server_.Command("CONFIG", "RESETSTAT");
  for (int i = 0; i < 7; ++i) limiter.Check({.subject = "user_8421", .limits = limits});
  EXPECT_EQ(Calls("evalsha"), 7);
  EXPECT_EQ(Calls("eval"), 0);
  EXPECT_EQ(Calls("script|load"), 0);
  EXPECT_EQ(server_.Command("ZCARD", "ratelimit:user_8421:60"), "5");
  EXPECT_EQ(server_.Command("ZCARD", "ratelimit:user_8421:86400"), "5");  // all or none
}

TEST_P(RedisStoreTest, A2_TwentyConcurrentClientsTenPass) {
  Limiter limiter(*store_, kPatient);
  std::atomic<int> passed = 0;
  std::atomic<bool> go = false;
  std::vector<std::thread> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back([&] {
      while (!go) std::this_thread::yield();
      passed += limiter.Check("u", 10, 60s).allowed();
    });
  }
  go = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(passed, 10);
}

TEST_P(RedisStoreTest, A3_RetryAfterIsWhenTheOldestLeaves) {
  Limiter limiter(*store_, kPatient);
  EXPECT_TRUE(limiter.Check("u", 1, 60s).allowed());
  const std::string entry = server_.Command("ZRANGE", "ratelimit:u:60", "0", "0", "WITHSCORES");
  const std::int64_t score = std::stoll(entry.substr(entry.rfind('\n') + 1));
  const Decision limited = limiter.Check("u", 1, 60s);
  std::istringstream time(server_.Command("TIME"));
  std::int64_t seconds = 0;
  std::int64_t micros = 0;
  time >> seconds >> micros;
  const std::int64_t left_ms = score + 60'000 - (seconds * 1000 + micros / 1000);
  EXPECT_GE(limited.retry_after, std::chrono::milliseconds(left_ms));
  EXPECT_LE(limited.retry_after, 60s);
  EXPECT_EQ(RetryAfterSeconds(limited.retry_after), 60);
}

TEST_P(RedisStoreTest, A5_TierSwitchKeepsTheKey) {
  Limiter limiter(*store_, kPatient);
  const auto free = Limits("5 per minute; 100 per day");
  const auto pro = Limits("60 per minute; 5000 per day");
  for (int i = 0; i < 6; ++i) limiter.Check({.subject = "u", .limits = free});
  const std::string keys = server_.Command("DBSIZE");
  server_.Command("CONFIG", "RESETSTAT");
  EXPECT_EQ(limiter.Check({.subject = "u", .limits = pro}).remaining, 54);
  EXPECT_EQ(Calls("evalsha"), 1);  // the same script: none was loaded
  EXPECT_EQ(Calls("script|load"), 0);
  EXPECT_EQ(server_.Command("DBSIZE"), keys);
}

TEST_P(RedisStoreTest, A6_FullMinuteLeavesTheDayUntouched) {
  Limiter limiter(*store_, kPatient);
  const auto both = Limits("1 per minute; 1 per day");
  EXPECT_TRUE(limiter.Check({.subject = "u", .limits = both}).allowed());
  const std::string watched = "ratelimit:u:86400";
  server_.Command("CONFIG", "RESETSTAT");
  const Decision limited = limiter.Check({.subject = "u", .limits = both});
  EXPECT_EQ(limited.window, 1min);
  ASSERT_EQ(limited.lines.size(), 1u);
  // What the script does for a full window: once, for the minute.
  EXPECT_EQ(Calls("pexpiretime"), 1);
  EXPECT_EQ(Calls("zcount"), 1);
  EXPECT_EQ(Calls("zadd"), 0);
}

TEST_P(RedisStoreTest, A7_KeysLiveForTheWindowAndASecond) {
  Limiter limiter(*store_, kPatient);
  EXPECT_TRUE(limiter.Check("u", 1, 60s).allowed());
  const std::int64_t ttl = std::stoll(server_.Command("PTTL", "ratelimit:u:60"));
  EXPECT_GT(ttl, 60'000);
  EXPECT_LE(ttl, 61'000);
  // A refused request adds no entry and moves no TTL.
  EXPECT_FALSE(limiter.Check("u", 1, 60s).allowed());
  EXPECT_LE(std::stoll(server_.Command("PTTL", "ratelimit:u:60")), ttl);
  EXPECT_EQ(server_.Command("ZCARD", "ratelimit:u:60"), "1");
}

TEST_P(RedisStoreTest, A8_KillSwitchWritesNothing) {
  Limiter(*store_, kPatient).Check({.subject = "u", .limits = Limits("5 per minute"), .cost = 0});
  Limiter limiter(*store_, {.kill_switch = true});
  server_.Command("CONFIG", "RESETSTAT");  // the connection is there, and tells nothing more
  for (int i = 0; i < 10; ++i) {
    const Decision decision = limiter.Check("u", 5, 60s);
    EXPECT_TRUE(decision.allowed());
    EXPECT_EQ(decision.remaining, 5);
    EXPECT_EQ(decision.retry_after, 0s);
  }
  EXPECT_EQ(Calls("evalsha"), 0);
  EXPECT_EQ(server_.Command("DBSIZE"), "0");
}

TEST_P(RedisStoreTest, B_PlainKeyCountsAllInOneStep) {
  Limiter limiter(*store_, kPatient);
  const Limit limit = Limit::Create({.units = 5,
                                     .window = 60s,
                                     .algorithm = Algorithm::kFixedWindow,
                                     .count = Count::kAll,
                                     .key = KeyForm::kPlain})
                          .value();
  int passed = 0;
  for (int i = 0; i < 6; ++i) {
    passed += limiter.Check({.subject = "c", .limits = std::span(&limit, 1)}).allowed();
  }
  EXPECT_EQ(passed, 5);
  EXPECT_EQ(server_.Command("GET", "ratelimit:c"), "6");
  const std::int64_t ttl = std::stoll(server_.Command("TTL", "ratelimit:c"));
  EXPECT_GT(ttl, 50);
  EXPECT_LE(ttl, 60);
}

TEST_P(RedisStoreTest, P13_ScriptFlushBetweenChecksLosesNone) {
  Limiter limiter(*store_, kPatient);
  EXPECT_TRUE(limiter.Check("u", 5, 60s).allowed());
  server_.Command("SCRIPT", "FLUSH");
  EXPECT_TRUE(limiter.Check("u", 5, 60s).allowed());
  EXPECT_EQ(server_.Command("ZCARD", "ratelimit:u:60"), "2");
}

TEST_P(RedisStoreTest, P13_ScriptFlushUnderLoadStaysExact) {
  Limiter limiter(*store_, kPatient);
  std::atomic<int> passed = 0;
  std::atomic<int> unanswered = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      for (int n = 0; n < 500; ++n) {
        const Decision decision = limiter.Check("u", 1000, 600s);
        passed += decision.allowed();
        unanswered += decision.store_error != StoreError::kNone;
      }
    });
  }
  for (int i = 0; i < 20; ++i) server_.Command("SCRIPT", "FLUSH");
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(unanswered, 0);
  EXPECT_EQ(passed, 1000);
  EXPECT_EQ(server_.Command("ZCARD", "ratelimit:u:600"), "1000");
}

TEST_P(RedisStoreTest, P17_CounterWithoutTtlIsHealed) {
  Limiter limiter(*store_, kPatient);
  server_.Command("SET", "ratelimit:u:60:fixed", "100");
  const auto limits = Limits("10 per minute fixed_window");
  const Decision limited = limiter.Check({.subject = "u", .limits = limits});
  EXPECT_FALSE(limited.allowed());
  EXPECT_EQ(limited.retry_after, 60s);
  EXPECT_GT(std::stoll(server_.Command("PTTL", "ratelimit:u:60:fixed")), 59'000);
}

TEST_P(RedisStoreTest, LogWithoutTtlIsHealedByARefusalToo) {
  Limiter limiter(*store_, kPatient);
  EXPECT_TRUE(limiter.Check("u", 1, 60s).allowed());
  server_.Command("PERSIST", "ratelimit:u:60");
  EXPECT_FALSE(limiter.Check("u", 1, 60s).allowed());
  EXPECT_GT(std::stoll(server_.Command("PTTL", "ratelimit:u:60")), 60'000);
}

TEST_P(RedisStoreTest, P21_R17_SeveralStoresAdmitExactlyTheLimit) {
  constexpr int kStores = 4;
  std::atomic<int> passed = 0;
  std::vector<std::thread> nodes;
  for (int i = 0; i < kStores; ++i) {
    nodes.emplace_back([&] {
      const auto own = OpenStore(server_.url()).value();
      Limiter limiter(*own, kPatient);
      const auto limits = Limits("100 per hour; 250 per day; 300 per week fixed_window");
      for (int n = 0; n < 200; ++n) {
        passed += limiter.Check({.subject = "u", .limits = limits}).allowed();
      }
    });
  }
  for (std::thread& node : nodes) node.join();
  EXPECT_EQ(passed, 100);
  EXPECT_EQ(server_.Command("ZCARD", "ratelimit:u:86400"), "100");
  EXPECT_EQ(server_.Command("GET", "ratelimit:u:604800:fixed"), "100");
}

TEST_P(RedisStoreTest, P41_TwoNodesAdmitOneAndTellTheSameReset) {
  const auto other_store = OpenStore(server_.url()).value();
  Limiter nodes[] = {Limiter(*store_, kPatient), Limiter(*other_store, kPatient)};
  for (const char* text :
       {"1 per 30 seconds", "1 per 30 seconds fixed_window", "1 per 30 seconds token_bucket"}) {
    SCOPED_TRACE(text);
    const auto limits = Limits(text);
    int passed = 0;
    for (int i = 0; i < 30; ++i) {
      passed += nodes[i % 2].Check({.subject = "u", .limits = limits}).allowed();
    }
    EXPECT_EQ(passed, 1);
    const Micros reset = nodes[0].Check({.subject = "u", .limits = limits, .cost = 0}).reset_after;
    const Micros later = nodes[1].Check({.subject = "u", .limits = limits, .cost = 0}).reset_after;
    EXPECT_GE(reset, later);
    EXPECT_LT(reset - later, 1s);
  }
}

TEST_P(RedisStoreTest, R21_OddSubjectsKeepToThemselves) {
  Limiter limiter(*store_, kPatient);
  const std::string long_id(64 << 10, 'x');
  const std::vector<std::string> ids = {
      "a:b",  "{z}", "}x",    "a\r\nFLUSHALL\r\n", std::string("nul\0nul", 7),
      "\xff", "*",   long_id, long_id + "y"};
  for (const std::string& id : ids) EXPECT_EQ(limiter.Check(id, 2, 60s).remaining, 1);
  EXPECT_EQ(server_.Command("DBSIZE"), Int(static_cast<std::int64_t>(ids.size())));
  std::istringstream keys(server_.Command("KEYS", "*"));
  for (std::string key; std::getline(keys, key);) EXPECT_LE(key.size(), kMaxKeyBytes);
  EXPECT_EQ(limiter.Check("", 2, 60s).reason, Reason::kInvalidLimit);
}

TEST_P(RedisStoreTest, ForeignDataUnderTheKeyIsASetupError) {
  Limiter limiter(*store_, {.store_timeout = 5s});
  server_.Command("SET", "ratelimit:u:60", "not a sorted set");
  server_.Command("SET", "ratelimit:u:60:fixed", "not a number");
  for (const char* text : {"5 per minute", "5 per minute fixed_window"}) {
    const auto limits = Limits(text);
    const Decision decision = limiter.Check({.subject = "u", .limits = limits});
    EXPECT_EQ(decision.store_error, StoreError::kSetup) << text;
    EXPECT_EQ(decision.reason, Reason::kDegradedLocal);
  }
  EXPECT_EQ(server_.Command("GET", "ratelimit:u:60"), "not a sorted set");
}

// Values that look like numbers, or are as long as ours: refused by the look, so no line before is
// charged.
TEST_P(RedisStoreTest, ForeignValuesLeaveNothingHalfDone) {
  Limiter limiter(*store_, {.store_timeout = 5s});
  const auto refused = [&](const std::string& limit) {
    const auto limits = Limits("5 per second; " + limit);
    const Decision decision = limiter.Check({.subject = "u", .limits = limits});
    EXPECT_EQ(decision.store_error, StoreError::kSetup);
    EXPECT_EQ(server_.Command("EXISTS", "ratelimit:u:1"), "0");
  };
  for (const std::string value :
       {"3.5", "1e1", " 3", "0x3", "nan", "-100", "9223372036854775807"}) {
    SCOPED_TRACE(value);
    server_.Command("SET", "ratelimit:u:60:fixed", value);
    refused("5 per minute fixed_window");
  }
  for (const char byte : {'\0', '\xff'}) {
    server_.Command("SET", "ratelimit:u:60:gcra", std::string(32, byte));
    refused("5 per minute token_bucket");
  }
  server_.Command("SET", "ratelimit:u:60:counter", std::string(24, '\xff'));
  refused("5 per minute sliding_window_counter");
  for (const std::string score : {"inf", "1e300", "99999999999999.5"}) {
    SCOPED_TRACE(score);
    server_.Command("DEL", "ratelimit:u:60");
    server_.Command("ZADD", "ratelimit:u:60", score, "x");
    refused("5 per minute");
  }
}

TEST_P(RedisStoreTest, NoTimeRightMeansNothingIsWritten) {
  server_.Command("ACL", "SETUSER", "brim", "on", ">secret", "~ratelimit:*", "+@all", "-time");
  const auto store =
      OpenStore("redis://brim:secret@127.0.0.1:" + std::to_string(server_.port())).value();
  Limiter limiter(*store, {.store_timeout = 5s});
  EXPECT_EQ(limiter.Check("u", 5, 60s).store_error, StoreError::kSetup);
  EXPECT_EQ(server_.Command("DBSIZE"), "0");
}

TEST_P(RedisStoreTest, AnswersAreKeptApartWhenManyAreUnderWay) {
  Limiter limiter(*store_, kPatient);
  std::atomic<int> answered = 0;
  std::atomic<int> wrong = 0;
  const auto limits = Limits("1000000 per hour");
  for (Units cost = 1; cost <= 64; ++cost) {
    for (int i = 0; i < 20; ++i) {
      const std::string subject = "u" + Int(cost) + "-" + Int(i);
      limiter.CheckAsync({.subject = subject, .limits = limits, .cost = cost},
                         [&, cost](const Decision& decision) {
                           wrong += decision.remaining != 1'000'000 - cost;
                           ++answered;
                         });
    }
  }
  while (answered < 64 * 20) std::this_thread::yield();
  EXPECT_EQ(wrong, 0);
}

// P27: one cluster-enabled node that owns all slots refuses keys of different slots.
TEST(RedisClusterModeTest, P27_AllKeysOfACheckShareASlot) {
  RedisServer server({"--cluster-enabled", "yes"});
  server.Command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  while (server.Command("CLUSTER", "INFO").find("cluster_state:ok") == std::string::npos) {
    std::this_thread::yield();
  }
  const auto store = OpenStore(server.url()).value();
  LimiterOptions options = kPatient;
  options.hash_tag = true;
  Limiter limiter(*store, options);
  const auto limits = Limits("2 per minute; 100 per day; 50 per hour fixed_window");
  std::set<std::string> ids = {"user{1}", "}{", "{}", "a:b", "{z}", "}x", "plain"};
  for (const std::string& id : ids) {
    const Decision decision = limiter.Check({.subject = id, .limits = limits, .scope = "chat"});
    EXPECT_TRUE(decision.allowed()) << id;
    EXPECT_EQ(decision.remaining, 1) << id;
  }
  EXPECT_EQ(server.Command("DBSIZE"), Int(static_cast<std::int64_t>(3 * ids.size())));
  // Without hash tags the server says so, and nothing is half done.
  Limiter untagged(*store, {.store_timeout = 5s});
  EXPECT_NE(untagged.Check({.subject = "u", .limits = limits}).store_error, StoreError::kNone);
  EXPECT_EQ(server.Command("DBSIZE"), Int(static_cast<std::int64_t>(3 * ids.size())));
}

TEST(RedisStoreFailureTest, ServerAbsentThenPresent) {
  RedisServer server;
  server.Kill();
  const auto store = OpenStore(server.url()).value();
  Limiter limiter(*store);
  const Decision degraded = limiter.Check("u", 5, 60s);
  EXPECT_EQ(degraded.reason, Reason::kDegradedLocal);
  EXPECT_EQ(degraded.store_error, StoreError::kUnavailable);
  server.Start();
  const auto back = std::chrono::steady_clock::now();
  while (limiter.Check("v", 1'000'000, 60s).reason != Reason::kWithinLimit) {
    ASSERT_LT(std::chrono::steady_clock::now() - back, 2s);
    std::this_thread::yield();
  }
}

TEST(RedisStoreFailureTest, StalledServerCostsTheTimeoutAndIsUnknown) {
  RedisServer server;
  const auto store = OpenStore(server.url()).value();
  Limiter limiter(*store, {.on_failure = OnFailure::kOpen});
  EXPECT_EQ(limiter.Check("u", 5, 60s).reason, Reason::kWithinLimit);
  server.Pause();
  const auto start = std::chrono::steady_clock::now();
  const Decision decision = limiter.Check("u", 5, 60s);
  const auto took = std::chrono::steady_clock::now() - start;
  server.Resume();
  EXPECT_EQ(decision.reason, Reason::kFailOpen);
  EXPECT_EQ(decision.store_error, StoreError::kUnknown);
  EXPECT_GE(took, 50ms);
  EXPECT_LT(took, 250ms);
}

TEST(RedisStoreFailureTest, StoreThatEndsAnswersThoseWhoAskAgainToo) {
  RedisServer server;
  auto store = OpenStore(server.url()).value();
  Limiter limiter(*store);
  const auto limits = Limits("5 per minute");
  EXPECT_TRUE(limiter.Check({.subject = "u", .limits = limits}).allowed());
  server.Pause();
  std::atomic<int> answered = 0;
  for (int i = 0; i < 100; ++i) {
    limiter.CheckAsync({.subject = "u", .limits = limits}, [&](const Decision&) {
      limiter.CheckAsync({.subject = "u", .limits = limits}, [&](const Decision&) { ++answered; });
    });
  }
  store.reset();
  EXPECT_EQ(answered, 100);
  server.Resume();
}

TEST(RedisStoreFailureTest, StoreThatEndsAnswersWhatWaits) {
  RedisServer server;
  auto store = OpenStore(server.url()).value();
  auto limiter = std::make_unique<Limiter>(*store);
  server.Pause();
  std::atomic<int> answered = 0;
  const auto limits = Limits("5 per minute");
  for (int i = 0; i < 100; ++i) {
    limiter->CheckAsync({.subject = "u", .limits = limits}, [&](const Decision& decision) {
      answered += decision.store_error != StoreError::kNone;
    });
  }
  limiter.reset();
  store.reset();
  EXPECT_EQ(answered, 100);
  server.Resume();
}

}  // namespace
}  // namespace brim::testing

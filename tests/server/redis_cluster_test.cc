// The Redis store on a real cluster: slots that move under load, checks over several slots, nodes
// that die.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "support/cluster.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

const LimiterOptions kPatient{.store_timeout = 5s, .on_failure = OnFailure::kClosed};

std::vector<Limit> Limits(std::string_view text) { return ParseLimits(text).value(); }

// One cluster for the tests that leave it as it is.
TestCluster& Shared() {
  static TestCluster cluster;
  return cluster;
}

class RedisClusterTest : public ::testing::Test {
 protected:
  RedisClusterTest() : store_(OpenStore(Shared().url()).value()), limiter_(*store_, kPatient) {
    for (std::size_t i = 0; i < Shared().size(); ++i) Shared().node(i).Command("FLUSHALL");
  }
  std::int64_t KeysInAll() {
    std::int64_t keys = 0;
    for (std::size_t i = 0; i < Shared().size(); ++i) {
      keys += std::stoll(Shared().node(i).Command("DBSIZE"));
    }
    return keys;
  }
  // A user whose keys lie on another node than those of `user`.
  std::string SomebodyElsewhere(const std::string& user) {
    for (int i = 0;; ++i) {
      const std::string other = "other" + std::to_string(i);
      if (Shared().OwnerOf("{" + other + "}") != Shared().OwnerOf("{" + user + "}")) return other;
    }
  }
  std::string Card(const std::string& key) {
    return Shared().node(Shared().OwnerOf(key)).Command("ZCARD", key);
  }

  std::unique_ptr<Store> store_;
  Limiter limiter_;
};

TEST_F(RedisClusterTest, P27_OddSubjectsKeepToTheirSlotAndToThemselves) {
  const auto limits = Limits("2 per minute; 100 per day; 50 per hour fixed_window");
  const std::vector<std::string> ids = {"user{1}", "}{", "{}",    "a:b",
                                        "{z}",     "}x", "plain", "user1"};
  for (const std::string& id : ids) {
    const Decision decision = limiter_.Check({.subject = id, .limits = limits, .scope = "chat"});
    EXPECT_EQ(decision.reason, Reason::kWithinLimit) << id;
    EXPECT_EQ(decision.remaining, 1) << id;
  }
  EXPECT_EQ(KeysInAll(), static_cast<std::int64_t>(3 * ids.size()));
}

TEST_F(RedisClusterTest, ManySubjectsAreCountedWhereTheyBelong) {
  const auto limits = Limits("3 per hour");
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 200; ++i) {
      const Decision decision =
          limiter_.Check({.subject = "u" + std::to_string(i), .limits = limits});
      EXPECT_EQ(decision.store_error, StoreError::kNone);
      EXPECT_EQ(decision.allowed(), round < 3);
    }
  }
  EXPECT_EQ(KeysInAll(), 200);
  for (std::size_t i = 0; i < Shared().size(); ++i) {
    EXPECT_NE(Shared().node(i).Command("DBSIZE"), "0");
  }
}

TEST_F(RedisClusterTest, BatchesResetsAndPeeksFindTheirNodes) {
  const auto limits = Limits("5 per hour; 50 per day");
  std::vector<std::string> users;
  for (int i = 0; i < 100; ++i) users.push_back("u" + std::to_string(i));
  std::vector<CheckRequest> requests;
  for (const std::string& user : users) requests.push_back({.subject = user, .limits = limits});
  std::vector<Decision> decisions(requests.size());
  limiter_.CheckBatch(requests, decisions);
  for (const Decision& decision : decisions) EXPECT_EQ(decision.remaining, 4);
  EXPECT_EQ(limiter_.Check({.subject = "u7", .limits = limits, .cost = 0}).remaining, 4);
  EXPECT_EQ(limiter_.Reset(requests[7]).value(), 2);
  EXPECT_EQ(limiter_.Check({.subject = "u7", .limits = limits, .cost = 0}).remaining, 5);
}

TEST_F(RedisClusterTest, P13_EveryNodeGetsItsScriptsBack) {
  const auto limits = Limits("100 per hour");
  for (int round = 1; round <= 3; ++round) {
    for (std::size_t i = 0; i < Shared().size(); ++i) Shared().node(i).Command("SCRIPT", "FLUSH");
    for (int i = 0; i < 30; ++i) {
      EXPECT_EQ(limiter_.Check({.subject = "u" + std::to_string(i), .limits = limits}).remaining,
                100 - round);
    }
  }
}

// A user's own limit beside a cap that all share, on another node.
TEST_F(RedisClusterTest, ACheckOverSeveralSlotsChargesAllOrNothing) {
  const std::string site = SomebodyElsewhere("me");
  Key own, cap;
  own.Append("ratelimit:{me}:60");
  cap.Append("ratelimit:{" + site + "}:3600");
  CheckLines lines;
  lines.Add(own, Limits("5 per minute")[0], 1);
  lines.Add(cap, Limits("3 per hour")[0], 1);
  const auto run = [&](Request request) {
    std::atomic<bool> done = false;
    Result<Taken> answer = Error{};
    store_->Run(request, 5s, [&](Result<Taken> taken) {
      answer = std::move(taken);
      done = true;
    });
    while (!done) std::this_thread::yield();
    return std::move(answer).value();
  };
  for (int i = 1; i <= 3; ++i) {
    const Taken taken = run({.lines = lines});
    EXPECT_TRUE(taken.admitted);
    EXPECT_EQ(taken.lines[0].used, i);
    EXPECT_EQ(taken.lines[1].used, i);
  }
  const Taken refused = run({.lines = lines});
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.refused_line, 1);
  EXPECT_EQ(refused.lines[0].used, 3);
  EXPECT_EQ(refused.lines[0].remaining, 2);
  const auto used = [&] { return run({.op = Op::kPeek, .lines = lines}).lines[0].used; };
  for (const auto end = Steady::now() + 2s; used() != 3;) ASSERT_LT(Steady::now(), end);
  EXPECT_EQ(Card("ratelimit:{me}:60"), "3");
  EXPECT_EQ(Card("ratelimit:{" + site + "}:3600"), "3");

  Taken charged = run({.op = Op::kCharge, .lines = lines, .wants_receipt = true});
  EXPECT_EQ(charged.lines[1].used, 4);
  EXPECT_FALSE(charged.receipt.empty());
  const Taken given = run({.op = Op::kRefund, .lines = lines, .receipt = &charged.receipt});
  EXPECT_EQ(given.lines[0].used, 3);
  EXPECT_EQ(given.lines[1].used, 3);
}

TEST_F(RedisClusterTest, ASharedCapIsExactUnderLoad) {
  const std::string site = SomebodyElsewhere("me");
  const auto own = Limits("1000 per minute");
  Limit cap = Limits("100 per hour")[0];
  std::atomic<int> passed = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        const std::vector<LimitItem> extra = {{.limit = cap, .subject = site}};
        passed += limiter_.Check({.subject = "me", .limits = own, .items = extra}).allowed();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  // Never over; under contention a refusal may have held a unit that was given back.
  EXPECT_LE(passed, 100);
  EXPECT_GE(passed, 90);
  EXPECT_EQ(Card("ratelimit:{" + site + "}:3600"), std::to_string(passed));
  EXPECT_EQ(Card("ratelimit:{me}:60"), std::to_string(passed));
}

TEST_F(RedisClusterTest, R09_ASlotThatMovesUnderLoadIsNotNoticed) {
  const std::string key = "ratelimit:{u}:600";
  const std::size_t from = Shared().OwnerOf(key);
  const auto limits = Limits("1000 per 10 minutes; 5000 per day");
  std::atomic<int> passed = 0;
  std::atomic<int> failed = 0;
  std::atomic<int> asked = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      while (!over || asked < 1500) {
        const Decision decision = limiter_.Check({.subject = "u", .limits = limits});
        passed += decision.allowed();
        failed += decision.store_error != StoreError::kNone;
        ++asked;
      }
    });
  }
  for (std::size_t move = 1; move <= 3; ++move) {
    Shared().MoveSlot(key, (from + move) % TestCluster::kPrimaries);
  }
  over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(passed, 1000);
  EXPECT_EQ(Card(key), "1000");
}

TEST(RedisClusterFaultTest, ADeadPrimaryIsReplacedByItsReplica) {
  TestCluster cluster(true);
  const auto store = OpenStore(cluster.url()).value();
  Limiter limiter(*store);
  const auto limits = Limits("100000 per hour");
  const auto check = [&](int i) {
    return limiter.Check({.subject = "u" + std::to_string(i), .limits = limits});
  };
  Limiter patient(*store, kPatient);
  ASSERT_TRUE(patient.Check({.subject = "u1", .limits = limits}).allowed());
  const std::size_t dead = cluster.OwnerOf("{u1}");
  const std::size_t watcher = dead == 0 ? 1 : 0;
  cluster.node(dead).Kill();
  const auto start = Steady::now();
  const auto whole = [&] {
    return cluster.node(watcher).Command("CLUSTER", "INFO").find("cluster_slots_ok:16384") !=
               std::string::npos &&
           cluster.node(dead + TestCluster::kPrimaries).Info("replication", "role") == "master";
  };
  while (!whole()) {
    for (int i = 0; i < 20; ++i) {
      const auto asked = Steady::now();
      check(i);
      EXPECT_LT(Steady::now() - asked, 250ms);
    }
    ASSERT_LT(Steady::now() - start, 20s);
  }
  const auto healed = Steady::now();
  for (int i = 0; i < 100; ++i) {
    while (check(i).store_error != StoreError::kNone) {
      ASSERT_LT(Steady::now() - healed, 2s) << i;
      std::this_thread::sleep_for(1ms);
    }
  }
}

TEST(RedisClusterFaultTest, AnyNodeIsEnoughToBeginWith) {
  TestCluster& cluster = Shared();
  RedisServer gone;
  gone.Kill();
  const std::string url = "redis+cluster://127.0.0.1:" + std::to_string(gone.port()) +
                          ",localhost:" + std::to_string(cluster.node(2).port());
  const auto store = OpenStore(url).value();
  Limiter limiter(*store);
  const auto start = Steady::now();
  for (int i = 0; i < 50; ++i) {
    while (limiter.Check("v" + std::to_string(i), 1000, 60s).store_error != StoreError::kNone) {
      ASSERT_LT(Steady::now() - start, 2s);
      std::this_thread::sleep_for(1ms);
    }
  }
}

TEST(RedisClusterFaultTest, AServerThatIsNoClusterServesAllTheSame) {
  RedisServer server;
  const auto store =
      OpenStore("redis+cluster://127.0.0.1:" + std::to_string(server.port())).value();
  Limiter limiter(*store, kPatient);
  EXPECT_TRUE(limiter.Check("u", 5, 60s).allowed());
}

}  // namespace
}  // namespace brim::testing

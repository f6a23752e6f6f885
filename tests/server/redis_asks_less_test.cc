// Merging and the reject memory against real servers, in real time: several clients, threads and
// processes, with and without the two. Exactly as many are admitted, nobody is told to come too
// early, and the server is asked less.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "store/redis_store.h"
#include "support/redis_server.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;

const LimiterOptions kPatient{.store_timeout = 5s, .on_failure = OnFailure::kClosed};

constexpr const char* kLimits[] = {"40 per hour",
                                   "40 per hour weighted",
                                   "40 per hour fixed_window",
                                   "40 per hour token_bucket",
                                   "40 per hour sliding_window_counter",
                                   "40 per hour; 45 per day; 50 per week fixed_window"};

struct Ways {
  bool merges;
  bool remembers;
};
constexpr Ways kAllWays[] = {{false, false}, {true, false}, {false, true}, {true, true}};

std::unique_ptr<RedisStore> Open(const RedisServer& server, Ways ways) {
  RedisStoreOptions options;
  options.client.endpoint.port = server.port();
  options.merges_takes = ways.merges;
  if (!ways.remembers) options.max_refusal_age = 0us;
  return std::make_unique<RedisStore>(options);
}

// So many checks under way at once; how many were allowed.
int CheckMany(Limiter& limiter, const CheckRequest& request, int checks) {
  const auto missing = std::make_shared<std::atomic<int>>(checks);
  const auto allowed = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < checks; ++i) {
    limiter.CheckAsync(request, [missing, allowed](const Decision& decision) {
      EXPECT_EQ(decision.store_error, StoreError::kNone);
      *allowed += decision.allowed();
      --*missing;
      missing->notify_one();
    });
  }
  for (int n = *missing; n != 0; n = *missing) missing->wait(n);
  return *allowed;
}

// A process of its own that makes so many checks, forty at a time. Its exit status is how many were
// allowed.
pid_t CheckInProcess(const RedisServer& server, Ways ways, const char* text) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  int allowed = 0;
  {
    const auto store = Open(server, ways);
    Limiter limiter(*store, kPatient);
    const auto limits = ParseLimits(text).value();
    for (int i = 0; i < 5; ++i) {
      allowed += CheckMany(limiter, {.subject = "u", .limits = limits}, 40);
    }
  }
  _exit(allowed);
}

class AsksLessTest : public ::testing::TestWithParam<ServerKind> {
 protected:
  AsksLessTest() : server_({}, GetParam()) {}
  RedisServer server_;
};

INSTANTIATE_TEST_SUITE_P(EveryServer, AsksLessTest,
                         ::testing::Values(ServerKind::kRedis, ServerKind::kValkey),
                         [](const auto& info) {
                           return info.param == ServerKind::kRedis ? "Redis" : "Valkey";
                         });

TEST_P(AsksLessTest, P21_R17_ProcessesOfEveryKindAdmitExactlyTheLimit) {
  for (const char* text : kLimits) {
    SCOPED_TRACE(text);
    server_.Command("FLUSHALL");
    std::vector<pid_t> processes;
    for (const Ways ways : kAllWays) processes.push_back(CheckInProcess(server_, ways, text));
    int allowed = 0;
    for (const pid_t process : processes) {
      int status = -1;
      ASSERT_EQ(waitpid(process, &status, 0), process);
      ASSERT_TRUE(WIFEXITED(status));
      allowed += WEXITSTATUS(status);
    }
    EXPECT_EQ(allowed, 40);
  }
}

TEST_P(AsksLessTest, P13_ThreadsStayExactWhileScriptsAreFlushed) {
  for (const Ways ways : kAllWays) {
    server_.Command("FLUSHALL");
    const auto store = Open(server_, ways);
    Limiter limiter(*store, kPatient);
    const auto limits = ParseLimits("1000 per hour").value();
    std::atomic<int> allowed = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        for (int n = 0; n < 10; ++n) {
          allowed += CheckMany(limiter, {.subject = "u", .limits = limits}, 50);
        }
      });
    }
    for (int i = 0; i < 20; ++i) server_.Command("SCRIPT", "FLUSH");
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(allowed, 1000);
    EXPECT_EQ(server_.Command("ZCARD", "ratelimit:u:3600"), "1000");
  }
}

TEST_P(AsksLessTest, MergedTakesAreToldWhatSingleOnesWouldBe) {
  const auto store = Open(server_, {true, true});
  Limiter limiter(*store, kPatient);
  const auto limits = ParseLimits("100 per hour; 70 per day token_bucket").value();
  std::array<Decision, 90> decisions;
  std::vector<CheckRequest> requests(decisions.size(), {.subject = "u", .limits = limits});
  limiter.CheckBatch(requests, decisions);
  for (int i = 0; i < 90; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(decisions[i].allowed(), i < 70);
    EXPECT_EQ(decisions[i].remaining, std::max(0, 69 - i));
    EXPECT_EQ(decisions[i].lines[0].remaining, 100 - std::min(70, i + 1));
  }
  const RedisStoreStats counts = store->counts();
  EXPECT_EQ(counts.checks, 90u);
  EXPECT_LE(counts.script_calls, 4u);
  EXPECT_EQ(counts.checks - counts.script_calls, counts.merged + counts.answered_here);
}

// One caller. Another store, which remembers nothing, says when a unit is free: from then on no
// check may be refused, and who waits as long as he was told is admitted.
TEST_P(AsksLessTest, RefusesNobodyWhomTheServerWouldAdmitAndTellsNobodyToComeTooEarly) {
  std::mt19937_64 random(std::random_device{}());
  const auto store = Open(server_, {true, true});
  const auto other = Open(server_, {false, false});
  Limiter limiter(*store, kPatient);
  Limiter witness(*other, kPatient);
  for (const char* text : {"3 per 30 ms", "3 per 30 ms weighted", "3 per 30 ms fixed_window",
                           "3 per 30 ms token_bucket", "3 per 30 ms sliding_window_counter"}) {
    SCOPED_TRACE(text);
    const auto limits = ParseLimits(text).value();
    const CheckRequest take{.subject = "u", .limits = limits};
    for (int i = 0; i < 20; ++i) {
      Decision limited = limiter.Check(take);
      for (int more = random() % 20; limited.allowed() || more > 0; --more) {
        limited = limiter.Check(take);
        if (limited.allowed()) continue;
        std::this_thread::sleep_for(Micros(random() % 300));
      }
      if (random() % 2 == 0) {
        std::this_thread::sleep_for(limited.retry_after);
      } else {
        while (!witness.Check({.subject = "u", .limits = limits, .cost = 0}).allowed()) {
        }
      }
      EXPECT_TRUE(limiter.Check(take).allowed());
    }
  }
}

TEST_P(AsksLessTest, OverloadCostsACallForEachUnitThatIsFreed) {
  for (const char* text : {"20 per second", "20 per second token_bucket"}) {
    SCOPED_TRACE(text);
    const auto store = Open(server_, {true, true});
    Limiter limiter(*store, kPatient);
    const auto limits = ParseLimits(text).value();
    const auto end = std::chrono::steady_clock::now() + 2s;
    std::int64_t allowed = 0;
    std::int64_t checks = 0;
    for (; std::chrono::steady_clock::now() < end; checks += 256) {
      allowed += CheckMany(limiter, {.subject = "u", .limits = limits}, 256);
    }
    const RedisStoreStats counts = store->counts();
    EXPECT_EQ(counts.checks, static_cast<std::uint64_t>(checks));
    EXPECT_GE(allowed, 40);
    EXPECT_LE(allowed, 61);
#ifndef __SANITIZE_THREAD__  // where an answer takes so long that others are asked for meanwhile
    EXPECT_LE(counts.script_calls, static_cast<std::uint64_t>(2 * 2 + allowed));
#endif
    EXPECT_GT(counts.answered_here, static_cast<std::uint64_t>(checks / 2));
  }
}

TEST_P(AsksLessTest, OwnRefundsChargesAndResetsAreNoticedAtOnce) {
  const auto store = Open(server_, {true, true});
  Limiter limiter(*store, kPatient);
  const auto limits = ParseLimits("2 per hour").value();
  const CheckRequest one{.subject = "u", .limits = limits};
  const auto fill = [&] {
    while (limiter.Check(one).allowed()) {
    }
    EXPECT_FALSE(limiter.Check(one).allowed());
  };
  for (int i = 0; i < 20; ++i) {
    fill();
    limiter.Refund(one);
    EXPECT_TRUE(limiter.Check(one).allowed());
    fill();
    ASSERT_TRUE(limiter.Reset(one).ok());
    EXPECT_TRUE(limiter.Check(one).allowed());
    fill();
    limiter.Charge(one);
    limiter.Refund({.subject = "u", .limits = limits, .cost = 2});
    EXPECT_TRUE(limiter.Check(one).allowed());
  }
  // Raised: another limit is another check.
  const auto raised = ParseLimits("20 per hour").value();
  EXPECT_TRUE(limiter.Check({.subject = "u", .limits = raised}).allowed());
}

TEST_P(AsksLessTest, TheResetOfAnotherIsNoticedWithinASecond) {
  const auto store = Open(server_, {true, true});
  Limiter limiter(*store, kPatient);
  const auto limits = ParseLimits("1 per hour").value();
  const CheckRequest one{.subject = "u", .limits = limits};
  EXPECT_TRUE(limiter.Check(one).allowed());
  EXPECT_FALSE(limiter.Check(one).allowed());
  server_.Command("DEL", "ratelimit:u:3600");
  const auto reset = std::chrono::steady_clock::now();
  while (!limiter.Check(one).allowed()) {
    ASSERT_LT(std::chrono::steady_clock::now() - reset, 2s);
  }
}

// Of one caller who does not wait for the answers.
TEST_P(AsksLessTest, ProgramOrderHolds) {
  const auto store = Open(server_, {true, true});
  Limiter limiter(*store, kPatient);
  const auto limits = ParseLimits("3 per hour").value();
  const CheckRequest one{.subject = "u", .limits = limits};
  const CheckRequest peek{.subject = "u", .limits = limits, .cost = 0};
  // What has to wait for its script to be loaded runs later than what comes behind it.
  limiter.Check(one);
  limiter.Check(peek);
  limiter.Refund(one);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(limiter.Reset(one).ok());
    std::atomic<int> allowed = 0;
    const auto take = [&](int times) {
      for (int n = 0; n < times; ++n) {
        limiter.CheckAsync(one, [&](const Decision& d) { allowed += d.allowed(); });
      }
    };
    take(5);
    limiter.RefundAsync(one, [](const Decision&) {});
    take(2);
    // Behind all of them: 3 admitted, one given back, one admitted.
    EXPECT_EQ(limiter.Check(peek).remaining, 0);
    EXPECT_EQ(allowed, 4) << i;
  }
}

// R03, P15: what was sent is unknown for all who share the call; what waited was never sent.
TEST_P(AsksLessTest, R03_ALostReplyIsUnknownForAllWhoShareTheCall) {
  const auto store = Open(server_, {true, true});
  Limiter limiter(*store, {.store_timeout = 5s});
  const auto limits = ParseLimits("1000 per hour").value();
  EXPECT_EQ(CheckMany(limiter, {.subject = "u", .limits = limits}, 1), 1);
  Limiter hasty(*store, {.store_timeout = 60ms, .on_failure = OnFailure::kClosed});
  server_.Pause();
  std::array<std::atomic<int>, 8> errors{};
  std::atomic<int> missing = 20;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<CheckRequest> requests(10, {.subject = "u", .limits = limits});
  const auto ask_ten = [&] {
    hasty.CheckBatchAsync(requests, [&](std::size_t, const Decision& decision) {
      ++errors[static_cast<std::size_t>(decision.store_error)];
      --missing;
    });
  };
  ask_ten();
  std::this_thread::sleep_for(20ms);  // these leave
  ask_ten();                          // and these wait for their reply
  while (missing != 0) std::this_thread::yield();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 500ms);
  server_.Resume();
  EXPECT_EQ(errors[static_cast<std::size_t>(StoreError::kUnknown)], 10);
  EXPECT_EQ(errors[static_cast<std::size_t>(StoreError::kUnavailable)], 10);
}

}  // namespace
}  // namespace brim::testing

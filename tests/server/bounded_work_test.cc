// A log of 100,000 entries that expire at once must not stall the server: no command of brim takes
// longer than 2 ms there, by the server's own slow log. (The server's own expiry of such a key is
// docs/redis.md's matter.)
#include <string>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "support/redis_server.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;

// The machine may take the server off its core in the middle of a command, and the slow log counts
// that too: a command that is slow by itself is slow every time.
constexpr int kTries = 5;

// 100,000 entries that are out of a window of an hour, and perhaps one that is not.
constexpr char kFill[] = R"lua(
local now = redis.call('TIME')[1] * 1000
for i = 1, 100000 do
  redis.call('ZADD', KEYS[1], now - 7200000, struct.pack('>I7I4', i, 1))
end
if ARGV[1] == 'live' then redis.call('ZADD', KEYS[1], now, struct.pack('>I7I4', 100001, 1)) end
redis.call('PEXPIREAT', KEYS[1], now + 3601000)
)lua";

// How many commands of brim took longer than 2 ms, in the best of some tries.
int SlowCommands(const std::string& limit, const std::string& key, const std::string& live) {
  const auto limits = ParseLimits(limit).value();
  int fewest = 1000;
  for (int i = 0; i < kTries && fewest != 0; ++i) {
    RedisServer server;
    server.Command("EVAL", kFill, "1", key, live);
    EXPECT_EQ(server.Command("ZCARD", key), live == "live" ? "100001" : "100000");
    const auto store = OpenStore(server.url()).value();
    Limiter limiter(*store, {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
    limiter.Check({.subject = "warm-up", .limits = limits});
    server.Command("CONFIG", "SET", "slowlog-log-slower-than", "2000");
    server.Command("SLOWLOG", "RESET");
    for (int n = 0; n < 100; ++n) {
      EXPECT_TRUE(limiter.Check({.subject = "u", .limits = limits}).allowed());
    }
    EXPECT_TRUE(limiter.Refund({.subject = "u", .limits = limits}).allowed());
    EXPECT_EQ(limiter.Check({.subject = "u", .limits = limits, .cost = 0}).remaining,
              100'000 - 99 - (live == "live" ? 1 : 0));
    fewest = std::min(fewest, std::stoi(server.Command("SLOWLOG", "LEN")));
    EXPECT_LT(std::stoi(server.Command("ZCARD", key)), 100'001);
  }
  return fewest;
}

TEST(BoundedWorkTest, ExpiredEntriesAreDroppedInSteps) {
  EXPECT_EQ(SlowCommands("100000 per hour", "ratelimit:u:3600", "live"), 0);
  EXPECT_EQ(SlowCommands("100000 per hour weighted", "ratelimit:u:3600:w", "live"), 0);
}

TEST(BoundedWorkTest, ALogThatIsAllOutIsUnlinked) {
  EXPECT_EQ(SlowCommands("100000 per hour", "ratelimit:u:3600", ""), 0);
  EXPECT_EQ(SlowCommands("100000 per hour weighted", "ratelimit:u:3600:w", ""), 0);
}

}  // namespace
}  // namespace brim::testing

// The user that docs/redis.md tells operators to make: it can do all that brim does, and it has no
// right that nothing needs.
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "redis/client.h"
#include "redis/slot.h"
#include "store/store_url.h"
#include "support/cluster.h"
#include "support/redis_server.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kCommand = "ACL SETUSER brim ";

// The rights in the page's one line that makes the user.
std::vector<std::string> RightsOfThePage() {
  std::ifstream page(BRIM_REDIS_PAGE);
  std::vector<std::string> rights;
  for (std::string line; std::getline(page, line);) {
    const std::size_t at = line.find(kCommand);
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + kCommand.size()));
    for (std::string word; words >> word;) rights.push_back(word);
  }
  return rights;
}

// Every operation on every algorithm.
void UseEverything(Limiter& limiter) {
  const auto limits = ParseLimits(
                          "3 per minute; 3 per minute weighted; 3 per minute fixed_window; "
                          "3 per minute token_bucket; 3 per minute sliding_window_counter")
                          .value();
  const CheckRequest one{.subject = "u", .limits = limits};
  const CheckRequest two{.subject = "u", .limits = limits, .cost = 2};
  Receipt receipt;
  EXPECT_EQ(limiter.Check(two, receipt).reason, Reason::kWithinLimit);
  EXPECT_EQ(limiter.Charge(one).reason, Reason::kWithinLimit);
  EXPECT_EQ(limiter.Check(one).reason, Reason::kOverLimit);
  EXPECT_EQ(limiter.Refund(two, std::move(receipt)).reason, Reason::kWithinLimit);
  EXPECT_EQ(limiter.Refund(one).reason, Reason::kWithinLimit);
  EXPECT_EQ(limiter.Check(two).reason, Reason::kWithinLimit);
  EXPECT_EQ(limiter.Check({.subject = "u", .limits = limits, .cost = 0}).reason,
            Reason::kWithinLimit);
  EXPECT_EQ(limiter.Reset(one).value(), 5);
}

// Logs whose entries leave the window while they are used: some entries at a time, and all at once.
void UseUntilEntriesLeave(Limiter& limiter) {
  for (const char* text : {"4 per 40ms", "4 per 40ms weighted"}) {
    const auto limits = ParseLimits(text).value();
    for (int passed = 0; passed < 40;) {
      const Decision decision = limiter.Check({.subject = "v", .limits = limits});
      ASSERT_EQ(decision.store_error, StoreError::kNone);
      passed += decision.allowed();
    }
  }
}

// A plain key does not name its window, so its TTL is too long once the window is shortened.
void ShortenAWindow(Limiter& limiter) {
  for (const Micros window : {120s, 60s}) {
    const Limit limit = Limit::Create({.units = 3,
                                       .window = window,
                                       .algorithm = Algorithm::kFixedWindow,
                                       .key = KeyForm::kPlain})
                            .value();
    EXPECT_EQ(limiter.Check({.subject = "w", .limits = {&limit, 1}}).reason, Reason::kWithinLimit);
  }
}

class RedisAclTest : public ::testing::TestWithParam<ServerKind> {};

INSTANTIATE_TEST_SUITE_P(EveryServer, RedisAclTest,
                         ::testing::Values(ServerKind::kRedis, ServerKind::kValkey),
                         [](const auto& info) {
                           return info.param == ServerKind::kRedis ? "Redis" : "Valkey";
                         });

void MakeUser(RedisServer& server, const std::vector<std::string>& rights) {
  ASSERT_GT(rights.size(), 5u) << "no line with " << kCommand << "in " << BRIM_REDIS_PAGE;
  for (const std::string& right : rights) {
    ASSERT_EQ(server.Command("ACL", "SETUSER", "brim", right), "OK") << right;
  }
}

std::string UrlOf(const RedisServer& server) {
  return "redis://brim:secret@127.0.0.1:" + std::to_string(server.port()) + "/1";
}

bool IsOfSignIn(const std::string& right) {
  return right == "+client|setname" || right == "+select";
}

TEST_P(RedisAclTest, ThePagesUserIsEnoughAndHasNothingToSpare) {
  RedisServer server({}, GetParam());
  const std::vector<std::string> rights = RightsOfThePage();
  MakeUser(server, rights);
  const auto store = OpenStore(UrlOf(server)).value();
  Limiter limiter(*store, {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto called = [&](const std::string& right) {
    return server.Info("commandstats", "cmdstat_" + right.substr(1)) != "";
  };
  const auto limits = ParseLimits("1 per minute").value();
  EXPECT_EQ(limiter.Check({.subject = "u", .limits = limits, .cost = 0}).reason,
            Reason::kWithinLimit);
  for (const std::string& right : rights) {
    if (!IsOfSignIn(right)) continue;
    EXPECT_TRUE(called(right)) << right;
  }
  server.Command("CONFIG", "RESETSTAT");  // forgets what the self-test called
  UseEverything(limiter);
  UseUntilEntriesLeave(limiter);
  ShortenAWindow(limiter);
  for (const std::string& right : rights) {
    if (right[0] != '+' || IsOfSignIn(right)) continue;
    EXPECT_TRUE(called(right)) << right;
  }
}

// Why a client with these rights is not let in.
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

TEST_P(RedisAclTest, TheSelfTestNamesEachMissingRightAndWritesNothing) {
  RedisServer server({}, GetParam());
  const std::vector<std::string> rights = RightsOfThePage();
  MakeUser(server, rights);
  for (const std::string& right : rights) {
    if (right[0] != '+' || IsOfSignIn(right)) continue;
    const std::string name = right.substr(1);
    if (name == "script|load") server.Command("SCRIPT", "FLUSH");
    server.Command("ACL", "SETUSER", "brim", "-" + name);
    const std::string why = WhyNot(UrlOf(server));
    EXPECT_NE(why.find(name), std::string::npos) << right << ": " << why;
    server.Command("ACL", "SETUSER", "brim", right);
  }
  for (const std::string db : {"0", "1"}) {
    server.Command("SELECT", db);
    EXPECT_EQ(server.Command("DBSIZE"), "0");
  }
}

// With a slot on its way to another node, so that a command is sent there with ASKING.
TEST(RedisClusterAclTest, AClusterTakesTwoRightsMore) {
  TestCluster cluster;
  std::vector<std::string> rights = RightsOfThePage();
  rights.insert(rights.end(), {"+cluster|slots", "+asking"});
  for (std::size_t i = 0; i < cluster.size(); ++i) MakeUser(cluster.node(i), rights);
  const auto store = OpenStore(cluster.url("brim:secret@")).value();
  Limiter limiter(*store, {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
  const auto limits = ParseLimits("5 per minute; 100 per day").value();
  for (int i = 0; i < 30; ++i) {
    const Decision decision = limiter.Check({.subject = "u" + std::to_string(i), .limits = limits});
    EXPECT_EQ(decision.reason, Reason::kWithinLimit);
  }
  const std::size_t from = cluster.OwnerOf("{moving}");
  RedisServer& to = cluster.node((from + 1) % cluster.size());
  const std::string slot = std::to_string(redis::SlotOf("{moving}"));
  const std::string from_id = cluster.node(from).Command("CLUSTER", "MYID");
  const std::string to_id = to.Command("CLUSTER", "MYID");
  ASSERT_EQ(to.Command("CLUSTER", "SETSLOT", slot, "IMPORTING", from_id), "OK");
  ASSERT_EQ(cluster.node(from).Command("CLUSTER", "SETSLOT", slot, "MIGRATING", to_id), "OK");
  // One key: of two that are not there yet Redis says TRYAGAIN until the move is over.
  const Decision moving = limiter.Check("moving", 5, 60s);
  EXPECT_EQ(moving.reason, Reason::kWithinLimit);
  EXPECT_EQ(moving.remaining, 4);
  EXPECT_NE(to.Info("commandstats", "cmdstat_asking"), "");
  EXPECT_EQ(to.Command("CLUSTER", "COUNTKEYSINSLOT", slot), "1");
}

}  // namespace
}  // namespace brim::testing

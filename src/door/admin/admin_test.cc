#include "door/admin/admin.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <brim/memory_store.h>
#include "door/testing.h"

namespace brim::door {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ServedPolicyHolder::Pointer Policy(const std::string& token_file = "") {
  PolicySet set = DefaultPolicySet();
  set.admin_token_file = token_file;
  return ServedPolicy::Make(std::make_shared<PolicySet>(std::move(set))).value();
}

LoadedConfig NothingToLoad() { return LoadConfig("", "brim.yaml"); }

TEST(AdminTest, AMemoryStoreIsAlwaysReady) {
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = false});
  DecisionCounters counters(2);
  StoreWatch watch;
  ServedPolicyHolder policies(Policy());
  PolicyControl control(policies, NothingToLoad);
  Admin admin(policies, limiter, counters, watch, control);
  HandlerClient client(admin);
  EXPECT_EQ(client.Get("/healthz").status, 200);
  EXPECT_EQ(client.Get("/readyz").status, 200);
  EXPECT_EQ(client.Get("/").status, 404);
  client.Send("DELETE", "/healthz");
  EXPECT_EQ(client.reply().status, 405);
  EXPECT_EQ(store.stats().keys, 0u) << "asking writes nothing";
}

TEST(AdminTest, ALostStoreIsHealthyAndNotReady) {
  SlowStore store;
  Limiter limiter(store, {.kill_switch = false});
  DecisionCounters counters(1);
  StoreWatch watch;
  ServedPolicyHolder policies(Policy());
  PolicyControl control(policies, NothingToLoad);
  Admin admin(policies, limiter, counters, watch, control);
  HandlerClient client(admin);
  EXPECT_EQ(client.Send("GET", "/readyz"), net::HttpNext::kLater);
  store.Answer(Error{ErrorCode::kSetup, "WRONGPASS", ""});
  EXPECT_EQ(client.resumed(), 1);
  EXPECT_EQ(client.reply().status, 503);
  EXPECT_THAT(client.reply().body, HasSubstr("setup"));
  EXPECT_EQ(client.Get("/healthz").status, 200);
  EXPECT_THAT(client.Get("/metrics").body, HasSubstr("brim_store_up 0\n"));

  limiter.SetKillSwitch(true);
  EXPECT_EQ(client.Get("/readyz").status, 200);
  EXPECT_EQ(store.waiting(), 0u) << "the kill switch asks no store";
  EXPECT_THAT(client.Get("/readyz?verbose").body, HasSubstr("kill switch: on\n"));
}

TEST(AdminTest, MetricsCountDecisionsByReason) {
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = true});
  DecisionCounters counters(2);
  StoreWatch watch;
  ServedPolicyHolder policies(Policy());
  PolicyControl control(policies, NothingToLoad);
  Admin admin(policies, limiter, counters, watch, control);
  Decision over;
  over.reason = Reason::kOverLimit;
  counters.Add(over);
  counters.Add(over);
  const auto reply = HandlerClient(admin).Get("/metrics");
  EXPECT_EQ(reply.Header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(reply.body, HasSubstr("brim_build_info{version=\""));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_decisions_total{reason=\"over_limit\"} 2\n"));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_decisions_total{reason=\"within_limit\"} 0\n"));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_kill_switch 1\n"));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_store_up 1\n"));
}

TEST(AdminTest, WithoutATokenItRevealsNoSubject) {
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = false});
  DecisionCounters counters(1);
  StoreWatch watch;
  ServedPolicyHolder policies(Policy());
  PolicyControl control(policies, NothingToLoad);
  Admin admin(policies, limiter, counters, watch, control);
  const auto reply = HandlerClient(admin).Get("/v1/limits/u", {{"Authorization", "Bearer x"}});
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(reply.body, HasSubstr("admin.token_file"));
}

ServedPolicyHolder::Pointer WithToken(const std::string& path) {
  std::ofstream(path) << "token\n";
  return Policy(path);
}

class AdminLimitsTest : public testing::Test {
 protected:
  ~AdminLimitsTest() override { std::remove(path_.c_str()); }

  HandlerClient::Reply Ask(std::string_view method, std::string_view target) {
    client_.Send(method, target, {{"Authorization", "Bearer token"}});
    return client_.reply();
  }

  const std::string path_ = testing::TempDir() + "brim-admin-token-" + std::to_string(getpid());
  MemoryStore store_;
  Limiter limiter_{store_, {.kill_switch = false}};
  DecisionCounters counters_{1};
  StoreWatch watch_;
  ServedPolicyHolder policies_{WithToken(path_)};
  PolicyControl control_{policies_, NothingToLoad};
  Admin admin_{policies_, limiter_, counters_, watch_, control_};
  HandlerClient client_{admin_};
};

TEST_F(AdminLimitsTest, LooksAndForgets) {
  const auto limits = ParseLimits("5 per minute; 100 per day").value();
  limiter_.Check({.subject = "a/b c", .limits = limits});
  limiter_.Check({.subject = "a/b c", .limits = limits, .scope = "chat"});
  const auto look = Ask("GET", "/v1/limits/a/b%20c");
  EXPECT_EQ(look.status, 200);
  EXPECT_EQ(json::parse(look.body)["remaining"], 4) << "the default tier's limits";
  EXPECT_EQ(json::parse(Ask("GET", "/v1/limits/a/b%20c?tier=pro").body)["remaining"], 59);
  EXPECT_EQ(
      json::parse(Ask("GET", "/v1/limits/a/b%20c?limits=100+per+day&scope=chat").body)["remaining"],
      99);
  const auto reset = Ask("DELETE", "/v1/limits/a/b%20c?limits=5%2Fminute;1/h&scope=chat");
  EXPECT_EQ(reset.status, 200);
  EXPECT_EQ(json::parse(reset.body)["removed"], 1);
  EXPECT_EQ(json::parse(Ask("DELETE", "/v1/limits/a/b%20c").body)["removed"], 2);
  EXPECT_EQ(store_.stats().keys, 1u) << "the day of the scope";
}

TEST_F(AdminLimitsTest, MistakesNameTheirParameter) {
  const auto field = [&](std::string_view target) {
    const auto reply = Ask("DELETE", target);
    EXPECT_EQ(reply.status, 400) << target;
    return json::parse(reply.body).value("field", "");
  };
  EXPECT_EQ(field("/v1/limits/"), "subject");
  EXPECT_EQ(field("/v1/limits/%"), "subject");
  EXPECT_EQ(field("/v1/limits/u?limits=5"), "limits");
  EXPECT_EQ(field("/v1/limits/u?limits=5/m;6/m"), "limits");
  EXPECT_EQ(field("/v1/limits/u?tier=%zz"), "tier");
  EXPECT_EQ(field("/v1/limits/u?scpoe=chat"), "scpoe");
  EXPECT_EQ(Ask("POST", "/v1/limits/u").status, 405);
}

TEST_F(AdminLimitsTest, ALimitedSubjectIsNoRefusalOfTheLook) {
  const auto limits = ParseLimits("1 per minute").value();
  limiter_.Check({.subject = "u", .limits = limits});
  const auto look = Ask("GET", "/v1/limits/u?limits=1/minute");
  EXPECT_EQ(look.status, 200);
  EXPECT_EQ(json::parse(look.body)["allowed"], false);
}

}  // namespace
}  // namespace brim::door

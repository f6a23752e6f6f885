#include "door/admin/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brim/memory_store.h>
#include "door/testing.h"

namespace brim::door {
namespace {

using testing::HasSubstr;

TEST(AdminTest, AMemoryStoreIsAlwaysReady) {
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = false});
  DecisionCounters counters(2);
  StoreWatch watch;
  Admin admin(limiter, counters, watch);
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
  Admin admin(limiter, counters, watch);
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
}

TEST(AdminTest, MetricsCountDecisionsByReason) {
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = true});
  DecisionCounters counters(2);
  StoreWatch watch;
  Admin admin(limiter, counters, watch);
  counters.Add(Reason::kOverLimit);
  counters.Add(Reason::kOverLimit);
  const auto reply = HandlerClient(admin).Get("/metrics");
  EXPECT_EQ(reply.Header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(reply.body, HasSubstr("brim_build_info{version=\""));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_decisions_total{reason=\"over_limit\"} 2\n"));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_decisions_total{reason=\"within_limit\"} 0\n"));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_kill_switch 1\n"));
  EXPECT_THAT(reply.body, HasSubstr("\nbrim_store_up 1\n"));
}

}  // namespace
}  // namespace brim::door

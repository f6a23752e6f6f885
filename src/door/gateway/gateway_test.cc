#include "door/gateway/gateway.h"

#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <brim/memory_store.h>
#include <brim/testing.h>
#include "door/testing.h"

namespace brim::door {
namespace {

using namespace std::chrono_literals;
using net::HttpNext;
using nlohmann::json;

RoutePolicy MakeRoute(std::string name, std::string path, std::string_view limits,
                      std::string respond = R"({"query": "${query.q}", "results": []})") {
  RoutePolicy route{.name = std::move(name), .path = std::move(path), .limits = {}};
  route.respond = std::move(respond);
  for (const Limit& limit : ParseLimits(limits).value()) route.limits.push_back({.limit = limit});
  return route;
}

// The default tiers, these routes, and clients told apart by X-Client-Id.
ServedPolicyHolder::Pointer Policy(std::vector<RoutePolicy> routes) {
  PolicySet set = DefaultPolicySet();
  set.identity.subject.insert(set.identity.subject.begin(),
                              {SubjectSource::Kind::kHeader, "X-Client-Id"});
  for (RoutePolicy& route : routes) set.routes.emplace(route.path, std::move(route));
  return ServedPolicy::Make(std::make_shared<PolicySet>(std::move(set))).value();
}

class GatewayTest : public testing::Test {
 protected:
  void Serve(std::vector<RoutePolicy> routes) {
    policies_.emplace(Policy(std::move(routes)));
    gateway_.emplace(*policies_, limiter_, counters_, watch_);
    client_.emplace(*gateway_);
  }
  void SetUp() override { Serve({MakeRoute("search", "/api/search", "5 per minute")}); }

  // What is left for the subject, seen without taking.
  Units Left(std::string_view subject) {
    const auto limits = ParseLimits("5 per minute").value();
    return limiter_.Check({.subject = subject, .limits = limits, .cost = 0, .scope = "search"})
        .remaining;
  }

  ManualClock clock_;
  MemoryStore store_{{.clock = &clock_}};
  Limiter limiter_{store_, {.kill_switch = false}};
  DecisionCounters counters_{1};
  StoreWatch watch_;
  std::optional<ServedPolicyHolder> policies_;
  std::optional<Gateway> gateway_;
  std::optional<HandlerClient> client_;
};

TEST_F(GatewayTest, FivePassTheSixthIsLimitedAndAMinuteLaterFiveMorePass) {
  for (int i = 4; i >= 0; --i) {
    const auto reply = client_->Get("/api/search?q=test", {{"X-Client-Id", "me"}});
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, R"({"query": "test", "results": []})");
    EXPECT_EQ(reply.Header("Content-Type"), "application/json");
    EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "5");
    EXPECT_EQ(reply.Header("X-RateLimit-Remaining"), std::to_string(i));
    EXPECT_EQ(reply.Header("X-RateLimit-Window"), "minute");
  }
  const auto limited = client_->Get("/api/search?q=test", {{"X-Client-Id", "me"}});
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(json::parse(limited.body)["detail"], "Rate limit exceeded");
  EXPECT_EQ(limited.Header("Retry-After"), "60");
  EXPECT_EQ(limited.Header("X-RateLimit-Remaining"), "0");
  EXPECT_EQ(client_->Get("/api/search?q=test", {{"X-Client-Id", "other"}}).status, 200);
  EXPECT_EQ(CountOf(counters_, Reason::kWithinLimit), 6u);
  EXPECT_EQ(CountOf(counters_, Reason::kOverLimit), 1u);

  clock_.Advance(60s);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client_->Get("/api/search?q=test", {{"X-Client-Id", "me"}}).status, 200);
  }
}

TEST_F(GatewayTest, OnlyAValidRequestOfTheRouteIsCharged) {
  struct Case {
    std::string_view method, target;
    int status;
    std::string_view field;
  };
  const Case kCases[] = {{"GET", "/", 404, "path"},
                         {"GET", "/api/search/", 404, "path"},
                         {"GET", "/api/searc", 404, "path"},
                         {"GET", "/API/SEARCH?q=x", 404, "path"},
                         {"POST", "/api/search?q=x", 405, "method"},
                         {"get", "/api/search?q=x", 405, "method"},
                         {"GET", "/api/search", 422, "q"},
                         {"GET", "/api/search?q=%zz", 400, "q"}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(testing::Message() << c.method << " " << c.target);
    EXPECT_EQ(client_->Send(c.method, c.target, {{"X-Client-Id", "me"}}), HttpNext::kSend);
    const auto reply = client_->reply();
    EXPECT_EQ(reply.status, c.status);
    EXPECT_EQ(json::parse(reply.body)["field"], c.field);
    EXPECT_TRUE(json::parse(reply.body).contains("error"));
    EXPECT_EQ(reply.Header("Allow"), c.status == 405 ? "GET, HEAD" : "");
  }
  EXPECT_EQ(Left("me"), 5);
  client_->Send("HEAD", "/api/search?q=x", {{"X-Client-Id", "me"}});
  EXPECT_EQ(client_->reply().status, 200);
  EXPECT_EQ(Left("me"), 4);
}

TEST_F(GatewayTest, TheClientIsItsHeaderElseItsAddressElseAnonymous) {
  client_->Get("/api/search?q=x", {{"x-client-id", "me"}});
  EXPECT_EQ(Left("me"), 4);
  client_->Get("/api/search?q=x");
  client_->Get("/api/search?q=x", {{"X-Client-Id", ""}});
  EXPECT_EQ(Left("192.0.2.7"), 3);
  client_->Send("GET", "/api/search?q=x", {}, "", "unix");
  client_->Send("GET", "/api/search?q=x", {}, "", "");
  EXPECT_EQ(Left("anonymous"), 3);

  const auto twice = client_->Get("/api/search?q=x", {{"X-Client-Id", "a"}, {"X-Client-ID", "a"}});
  EXPECT_EQ(twice.status, 400);
  EXPECT_EQ(json::parse(twice.body)["field"], "X-Client-Id");
  EXPECT_EQ(Left("a"), 5);
}

TEST_F(GatewayTest, TheLongestPathWins) {
  Serve({MakeRoute("all", "/", "5 per minute", R"("all")"),
         MakeRoute("api", "/api/", "5 per minute", R"("api")"),
         MakeRoute("one", "/api/one", "5 per minute", R"("one")")});
  EXPECT_EQ(client_->Get("/api/one").body, R"("one")");
  EXPECT_EQ(client_->Get("/api/one/").body, R"("api")");
  EXPECT_EQ(client_->Get("/api/").body, R"("api")");
  EXPECT_EQ(client_->Get("/api").body, R"("all")");
}

TEST_F(GatewayTest, ThePlainKeyHasNoScopeAndDeniedCallsCount) {
  RoutePolicy route = MakeRoute("search", "/api/search", "5 per minute");
  route.deny = DenyForm::kObject;
  route.limits = {{Limit::Create({.units = 5,
                                  .window = 60s,
                                  .algorithm = Algorithm::kFixedWindow,
                                  .count = Count::kAll,
                                  .key = KeyForm::kPlain})
                       .value()}};
  Serve({route});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client_->Get("/api/search?q=x").status, 200);
  const auto limited = client_->Get("/api/search?q=x");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.body, R"({"detail": {"error": "rate limit exceeded", "retry_after": 60}})");
  EXPECT_EQ(limited.Header("Retry-After"), "60");
}

TEST_F(GatewayTest, ARouteCanHoldTheTiersLimitsToo) {
  RoutePolicy chat = MakeRoute("chat", "/chat", "3 per minute", "{}");
  chat.tiers = true;
  RoutePolicy search = MakeRoute("search", "/search", "9 per minute", "{}");
  search.tiers = true;
  search.limits.push_back({.limit = ParseLimit("6 per minute fixed_window").value(),
                           .subject = "upstream",
                           .scope = "",
                           .cost = 2});
  Serve({chat, search});
  const auto first = client_->Get("/chat", {{"X-Client-Id", "me"}});
  EXPECT_EQ(first.Header("RateLimit"), R"("minute";r=4, "minute-2";r=2, "day";r=99)")
      << "the tier's and the route's in one check, shortest first";
  EXPECT_EQ(first.Header("RateLimit-Policy"),
            R"("minute";q=5;w=60, "minute-2";q=3;w=60, "day";q=100;w=86400)");
  const auto second = client_->Get("/search", {{"X-Client-Id", "me"}});
  EXPECT_EQ(second.Header("RateLimit"),
            R"("minute";r=3, "minute-2";r=8, "minute-3";r=4, "day";r=98)")
      << "the tier's are shared by the routes, the shared cap costs 2";
  client_->Get("/search", {{"X-Client-Id", "you"}});
  EXPECT_EQ(client_->Get("/search", {{"X-Client-Id", "they"}}).status, 200);
  EXPECT_EQ(client_->Get("/search", {{"X-Client-Id", "we"}}).status, 429) << "the shared cap";
}

TEST_F(GatewayTest, TheKillSwitchLetsAllPass) {
  limiter_.SetKillSwitch(true);
  for (int i = 0; i < 7; ++i) {
    const auto reply = client_->Get("/api/search?q=x");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.Header("X-RateLimit-Remaining"), "5");
  }
  EXPECT_EQ(CountOf(counters_, Reason::kKillSwitch), 7u);
}

// A store that answers later must find the connection waiting, and nothing else.
class SlowGatewayTest : public testing::Test {
 protected:
  static Taken Admitted() {
    Taken taken{.admitted = true, .refused_line = -1, .lines = {}};
    taken.lines.push_back({.fit = Fit::kFits, .used = 1, .remaining = 4, .reset_after = 60s});
    return taken;
  }

  SlowStore store_;
  Limiter limiter_{store_, {.on_failure = OnFailure::kClosed, .kill_switch = false}};
  DecisionCounters counters_{1};
  StoreWatch watch_;
  ServedPolicyHolder policies_{Policy({MakeRoute("search", "/api/search", "5 per minute")})};
  Gateway gateway_{policies_, limiter_, counters_, watch_};
  HandlerClient client_{gateway_};
};

TEST_F(SlowGatewayTest, TheConnectionWaitsForALateAnswer) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_.Send("GET", "/api/search?q=x"), HttpNext::kLater);
    EXPECT_EQ(client_.resumed(), 0);
    store_.Answer(Admitted());
    EXPECT_EQ(client_.resumed(), 1);
    EXPECT_EQ(client_.reply().status, 200);
    EXPECT_EQ(client_.reply().body, R"({"query": "x", "results": []})");
  }
}

TEST_F(SlowGatewayTest, TheAnswerMayComeOnAnotherThread) {
  EXPECT_EQ(client_.Send("GET", "/api/search?q=x"), HttpNext::kLater);
  std::thread([&] { store_.Answer(Admitted()); }).join();
  EXPECT_EQ(client_.resumed(), 1);
  EXPECT_EQ(client_.reply().status, 200);
}

TEST_F(SlowGatewayTest, AFailedStoreIsA503AndNoticedUntilItIsBack) {
  client_.Send("GET", "/api/search?q=x");
  store_.Answer(Error{ErrorCode::kUnavailable, "gone", ""});
  EXPECT_EQ(client_.reply().status, 503);
  EXPECT_EQ(client_.reply().Header("Retry-After"), "1");
  EXPECT_EQ(json::parse(client_.reply().body)["store_error"], "unavailable");
  EXPECT_EQ(watch_.error(), StoreError::kUnavailable);

  client_.Send("GET", "/api/search?q=x");
  store_.Answer(Admitted());
  EXPECT_EQ(watch_.error(), StoreError::kNone);
}

}  // namespace
}  // namespace brim::door

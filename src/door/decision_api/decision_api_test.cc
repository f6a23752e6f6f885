#include "door/decision_api/decision_api.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include <gmock/gmock.h>
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
using testing::HasSubstr;

using Headers = std::vector<net::HttpHeader>;

ServedPolicyHolder::Pointer Serve(PolicySet set) {
  set.identity.subject.insert(set.identity.subject.begin(),
                              {SubjectSource::Kind::kHeader, "X-Client-Id"});
  return ServedPolicy::Make(std::make_shared<PolicySet>(std::move(set))).value();
}

class DecisionApiTest : public testing::Test {
 protected:
  HandlerClient::Reply Check(std::string_view body) { return client_.Post("/v1/check", body); }
  json CheckJson(std::string_view body) { return json::parse(Check(body).body); }

  ManualClock clock_;
  MemoryStore store_{{.clock = &clock_}};
  Limiter limiter_{store_, {.kill_switch = false}};
  DecisionCounters counters_{1};
  StoreWatch watch_;
  ServedPolicyHolder policies_{Serve(DefaultPolicySet())};
  DecisionApi api_{policies_, limiter_, counters_, watch_};
  HandlerClient client_{api_};
};

TEST_F(DecisionApiTest, FivePassTheSixthIsA429WithTheWholeContract) {
  constexpr std::string_view kBody =
      R"({"subject": "u", "limits": ["5 per minute", "100 per day"]})";
  for (int left = 4; left >= 0; --left) {
    const auto reply = Check(kBody);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.Header("X-RateLimit-Remaining"), std::to_string(left));
    EXPECT_EQ(reply.Header("RateLimit-Policy"), R"("minute";q=5;w=60, "day";q=100;w=86400)");
    EXPECT_EQ(json::parse(reply.body)["remaining"], left);
  }
  clock_.Advance(1500ms);
  const auto reply = Check(kBody);
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.Header("Content-Type"), "application/json");
  EXPECT_EQ(reply.Header("Retry-After"), "59");
  EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "5");
  EXPECT_EQ(reply.Header("X-RateLimit-Remaining"), "0");
  EXPECT_EQ(reply.Header("X-RateLimit-Window"), "minute");
  const json body = json::parse(reply.body);
  EXPECT_EQ(body["detail"], "Rate limit exceeded");
  EXPECT_EQ(body["reason"], "over_limit");
  EXPECT_EQ(body["retry_after_ms"], 58500);
  EXPECT_EQ(body["limits"].size(), 1u) << "the day was not looked at";
  EXPECT_EQ(CountOf(counters_, Reason::kOverLimit), 1u);
}

TEST_F(DecisionApiTest, ATierBringsItsLimitsAndTheDefaultTierStandsInForAnyOther) {
  EXPECT_EQ(CheckJson(R"({"subject": "u", "tier": "pro"})")["limit"], 60);
  EXPECT_EQ(CheckJson(R"({"subject": "u"})")["remaining"], 3) << "the tiers share the user's keys";
  EXPECT_EQ(CheckJson(R"({"subject": "u", "tier": "gold"})")["limit"], 5);
  EXPECT_EQ(CheckJson(R"({"subject": "u", "scope": "chat"})")["remaining"], 1)
      << "and all scopes, as the tier does not count per route";
  EXPECT_EQ(CheckJson(R"({"subject": "v", "tier": "pro", "limits": ["7 per hour"]})")["limit"], 7)
      << "limits stand in for those of a tier";
}

TEST_F(DecisionApiTest, CostZeroLooksAndIsNoRefusal) {
  constexpr std::string_view kLook = R"({"subject": "u", "cost": 0, "limits": ["1 per minute"]})";
  EXPECT_EQ(CheckJson(kLook)["allowed"], true);
  EXPECT_EQ(Check(R"({"subject": "u", "limits": ["1 per minute"]})").status, 200);
  const auto look = Check(kLook);
  EXPECT_EQ(look.status, 200);
  EXPECT_EQ(json::parse(look.body)["allowed"], false);
  EXPECT_EQ(look.Header("Retry-After"), "60");
  EXPECT_EQ(CountOf(counters_, Reason::kOverLimit), 0u);
}

TEST_F(DecisionApiTest, ChargesGoPastTheLimitAndRefundsGiveBack) {
  constexpr std::string_view kThree = R"({"subject": "u", "cost": 3, "limits": ["5 per minute"]})";
  EXPECT_EQ(client_.Post("/v1/charge", kThree).status, 200);
  const auto charged = client_.Post("/v1/charge", kThree);
  EXPECT_EQ(charged.status, 200);
  EXPECT_EQ(json::parse(charged.body)["allowed"], true);
  EXPECT_EQ(Check(R"({"subject": "u", "limits": ["5 per minute"]})").status, 429);
  EXPECT_EQ(json::parse(client_.Post("/v1/refund", kThree).body)["remaining"], 2);
  for (const std::string_view path : {"/v1/charge", "/v1/refund"}) {
    const auto nothing = client_.Post(path, R"({"subject": "u", "cost": 0})");
    EXPECT_EQ(nothing.status, 400);
    EXPECT_EQ(json::parse(nothing.body)["field"], "cost");
  }
}

TEST_F(DecisionApiTest, ASharedCapIsOneStepWithTheUsersOwnLimits) {
  const auto ask = [&](std::string user) {
    return Check(R"({"subject": ")" + user + R"(", "limits": ["9 per minute",
        {"limit": "4 per minute fixed_window", "subject": "site", "cost": 2}]})");
  };
  EXPECT_EQ(ask("a").status, 200);
  EXPECT_EQ(ask("b").status, 200);
  EXPECT_EQ(ask("c").status, 429);
  EXPECT_EQ(CheckJson(R"({"subject": "c", "cost": 0, "limits": ["9 per minute"]})")["remaining"], 9)
      << "the refusal by the cap charged nobody";
}

TEST_F(DecisionApiTest, WhatTheLimiterCannotTakeIsA400WithoutRateLimitHeaders) {
  const auto reply = Check(R"({"subject": "u", "limits": ["5/m", "6/m"]})");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.Header("RateLimit-Policy"), "");
  const json body = json::parse(reply.body);
  EXPECT_EQ(body["field"], "limits");
  EXPECT_THAT(body["error"].get<std::string>(), HasSubstr("same key"));
  const auto cost = Check(R"({"subject": "u", "cost": 65, "limits": ["500/m"]})");
  EXPECT_EQ(cost.status, 400);
  EXPECT_EQ(json::parse(cost.body)["field"], "cost");
  EXPECT_EQ(json::parse(Check("{").body)["field"], "body");
}

TEST_F(DecisionApiTest, ABatchIsAnsweredInOrderAndABadItemFailsAlone) {
  const auto reply = Check(R"([{"subject": "u", "limits": ["1/m"]}, {"subject": 7},
      {"subject": "u", "limits": ["1/m"]}, {"subject": "u", "limits": ["2/m", "3/m"]},
      {"subject": "u", "cost": 0, "limits": ["1/m"]}])");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Header("Content-Type"), "application/json");
  EXPECT_EQ(reply.headers.size(), 1u) << "no header speaks for all of them";
  const json items = json::parse(reply.body);
  ASSERT_EQ(items.size(), 5u);
  EXPECT_EQ(items[0]["status"], 200);
  EXPECT_EQ(items[0]["remaining"], 0);
  EXPECT_EQ(items[1]["status"], 400);
  EXPECT_EQ(items[1]["field"], "subject");
  EXPECT_EQ(items[2]["status"], 429);
  EXPECT_EQ(items[2]["detail"], "Rate limit exceeded");
  EXPECT_EQ(items[3]["status"], 400);
  EXPECT_EQ(items[3]["field"], "limits");
  EXPECT_EQ(items[4]["status"], 200) << "a look";
  EXPECT_EQ(items[4]["allowed"], false);
}

TEST_F(DecisionApiTest, BatchesOfChargesAndRefunds) {
  const auto items = [&](std::string_view path) {
    return json::parse(client_
                           .Post(path, R"([{"subject": "u", "limits": ["5/m"]},
        {"subject": "u", "cost": 2, "limits": ["5/m"]}, {"subject": "u", "cost": 0}])")
                           .body);
  };
  const json charged = items("/v1/charge");
  EXPECT_EQ(charged[1]["remaining"], 2);
  EXPECT_EQ(charged[2]["status"], 400);
  EXPECT_EQ(items("/v1/refund")[1]["remaining"], 5);
}

TEST_F(DecisionApiTest, BatchesHaveBounds) {
  EXPECT_EQ(Check("[]").body, "[]");
  std::string body = "[";
  for (int i = 0; i < 1001; ++i) body += R"({"subject": "u"},)";
  body.back() = ']';
  const auto reply = Check(body);
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(json::parse(reply.body)["field"], "body");
  EXPECT_EQ(store_.stats().keys, 0u);
}

TEST_F(DecisionApiTest, WrongPathsMethodsAndFormatsAreTyped) {
  EXPECT_EQ(client_.Get("/v1/nothing").status, 404);
  EXPECT_EQ(client_.Get("/").status, 404);
  EXPECT_EQ(client_.Get("/v1/authentic").status, 404);
  const auto get = client_.Get("/v1/check");
  EXPECT_EQ(get.status, 405);
  EXPECT_EQ(get.Header("Allow"), "POST");
  const auto type = [&](std::string_view value) {
    return client_.Post("/v1/check", R"({"subject": "u"})", {{"Content-Type", value}}).status;
  };
  EXPECT_EQ(type("text/plain"), 415);
  EXPECT_EQ(type("application/jsonp"), 415);
  EXPECT_EQ(type("Application/JSON; charset=utf-8"), 200);
  EXPECT_EQ(type("application/x-www-form-urlencoded"), 200);  // `curl -d`
  EXPECT_EQ(client_.Post("/v1/check", R"({"subject": "u"})", {}).status, 200);
  const Headers page = {{"Content-Type", "application/json"}, {"Origin", "http://evil.test"}};
  EXPECT_EQ(client_.Post("/v1/check", R"({"subject": "u"})", page).status, 403);
}

TEST_F(DecisionApiTest, GatewaysGetAnEmpty200OrTheRefusal) {
  const Headers me = {{"X-Client-Id", "me"}};
  for (const std::string_view method : {"GET", "HEAD", "POST", "DELETE", "BREW"}) {
    client_.Send(method, "/v1/auth/some/path?a=b", me, "any body");
    const auto reply = client_.reply();
    EXPECT_EQ(reply.status, 200) << method;
    EXPECT_EQ(reply.body, "");
    EXPECT_EQ(reply.Header("X-Brim-Decision"), "allowed");
    EXPECT_EQ(reply.Header("X-Brim-Policy"), "free");
    EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "5");
  }
  const auto limited = client_.Get("/v1/auth", me);
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.Header("Retry-After"), "60");
  EXPECT_EQ(limited.Header("X-Brim-Decision"), "limited");
  EXPECT_EQ(limited.Header("X-Brim-Reason"), "over_limit");
  EXPECT_EQ(json::parse(limited.body)["detail"], "Rate limit exceeded");
  const auto nginx = client_.Get("/v1/auth?deny_status=403", me);
  EXPECT_EQ(nginx.status, 403);
  EXPECT_EQ(nginx.Header("Retry-After"), "60");
  EXPECT_EQ(client_.Get("/v1/auth").status, 200) << "the address is somebody else";
  EXPECT_EQ(client_.Get("/v1/auth?deny_status=204", me).status, 400);
  EXPECT_EQ(client_.Get("/v1/auth", {{"X-Client-Id", "a"}, {"X-Client-Id", "b"}}).status, 400);
}

TEST_F(DecisionApiTest, TheConfigurationChoosesHeadersAndBody) {
  PolicySet set = DefaultPolicySet();
  set.headers = {.x_ratelimit = false, .ietf = true};
  set.deny = DenyForm::kProblem;
  policies_.Replace(Serve(std::move(set)));
  const auto allowed = Check(R"({"subject": "u"})");
  EXPECT_EQ(allowed.Header("X-RateLimit-Limit"), "");
  EXPECT_EQ(allowed.Header("RateLimit"), R"("minute";r=4, "day";r=99)");
  for (int i = 0; i < 5; ++i) client_.Get("/v1/auth");
  const auto limited = client_.Get("/v1/auth?deny_status=403");
  EXPECT_EQ(limited.Header("Content-Type"), "application/problem+json");
  EXPECT_EQ(json::parse(limited.body)["status"], 403);
}

TEST_F(DecisionApiTest, TheKillSwitchLetsAllPassAndAsksNoStore) {
  limiter_.SetKillSwitch(true);
  for (int i = 0; i < 3; ++i) {
    const json body = CheckJson(R"({"subject": "u", "limits": ["1/m"]})");
    EXPECT_EQ(body["reason"], "kill_switch");
    EXPECT_EQ(body["remaining"], 1);
  }
  EXPECT_EQ(store_.stats().keys, 0u);
}

TEST(DecisionApiTokenTest, IsAskedForEverything) {
  const std::string path = testing::TempDir() + "brim-token-" + std::to_string(getpid());
  std::ofstream(path) << "s3cret-token\n";
  PolicySet set = DefaultPolicySet();
  set.api_token_file = path;
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = false});
  DecisionCounters counters(1);
  StoreWatch watch;
  ServedPolicyHolder policies(Serve(std::move(set)));
  DecisionApi api(policies, limiter, counters, watch);
  HandlerClient client(api);
  const auto status = [&](std::string_view name, std::string_view value) {
    const auto reply = client.Get("/v1/auth", {{name, value}});
    EXPECT_EQ(reply.Header("WWW-Authenticate").empty(), reply.status != 401);
    return reply.status;
  };
  EXPECT_EQ(status("Authorization", "Bearer s3cret-token"), 200);
  EXPECT_EQ(status("Authorization", "bearer s3cret-token"), 200);
  EXPECT_EQ(status("X-Brim-Token", "s3cret-token"), 200);
  for (const std::string_view wrong :
       {"", "Bearer", "Bearer ", "Bearer s3cret-toke", "Bearer s3cret-tokem", "s3cret-token",
        "Basic s3cret-token", "Bearer  s3cret-token", "Bearer s3cret-token "}) {
    EXPECT_EQ(status("Authorization", wrong), 401) << wrong;
  }
  EXPECT_EQ(client.Post("/v1/check", R"({"subject": "u"})").status, 401);
  EXPECT_EQ(client.Get("/nothing").status, 401) << "a stranger learns nothing";
  std::remove(path.c_str());
}

TEST(BearerTokenTest, AFileWithoutATokenIsRefused) {
  const std::string path = testing::TempDir() + "brim-token-file-" + std::to_string(getpid());
  const auto error = [&](std::string_view content) {
    std::ofstream(path) << content;
    const auto token = BearerToken::Load(path, "api_token_file");
    return token ? std::string() : token.error().field + ": " + token.error().message;
  };
  EXPECT_EQ(error("good\r\nsecond line\n"), "");
  EXPECT_THAT(error(""), HasSubstr("api_token_file: " + path + " is empty"));
  EXPECT_THAT(error("\ntoken\n"), HasSubstr("is empty"));
  EXPECT_THAT(error("two words\n"), HasSubstr("visible ASCII"));
  EXPECT_THAT(error(std::string(5000, 'x')), HasSubstr("at most 4096"));
  std::remove(path.c_str());
  EXPECT_THAT(BearerToken::Load(path, "f").error().message, HasSubstr("cannot be read"));
}

// A store that answers later must find the connection waiting, whatever is asked.
class SlowDecisionApiTest : public testing::Test {
 protected:
  static Taken Admitted() {
    Taken taken{.admitted = true, .refused_line = -1, .lines = {}};
    taken.lines.push_back({.fit = Fit::kFits, .used = 1, .remaining = 4, .reset_after = 60s});
    return taken;
  }
  HttpNext Post(std::string_view path, std::string_view body) {
    return client_.Send("POST", path, {{"Content-Type", "application/json"}}, body);
  }

  SlowStore store_;
  Limiter limiter_{store_, {.on_failure = OnFailure::kClosed, .kill_switch = false}};
  DecisionCounters counters_{1};
  StoreWatch watch_;
  ServedPolicyHolder policies_{Serve(DefaultPolicySet())};
  DecisionApi api_{policies_, limiter_, counters_, watch_};
  HandlerClient client_{api_};
};

TEST_F(SlowDecisionApiTest, ASingleCheckWaits) {
  for (const std::string_view path : {"/v1/check", "/v1/charge", "/v1/refund"}) {
    EXPECT_EQ(Post(path, R"({"subject": "u", "limits": ["5/m"]})"), HttpNext::kLater);
    EXPECT_EQ(client_.resumed(), 0);
    store_.Answer(Admitted());
    EXPECT_EQ(client_.resumed(), 1);
    EXPECT_EQ(json::parse(client_.reply().body)["remaining"], 4);
  }
}

TEST_F(SlowDecisionApiTest, ABatchWaitsForItsLastAnswer) {
  constexpr std::string_view kBatch =
      R"([{"subject": "a", "limits": ["5/m"]}, {}, {"subject": "b", "limits": ["5/m"]}])";
  EXPECT_EQ(Post("/v1/check", kBatch), HttpNext::kLater);
  store_.Answer(Admitted());
  EXPECT_EQ(client_.resumed(), 0);
  store_.Answer(Error{ErrorCode::kUnknown, "lost", ""});
  EXPECT_EQ(client_.resumed(), 1);
  const json items = json::parse(client_.reply().body);
  EXPECT_EQ(items[0]["status"], 200);
  EXPECT_EQ(items[1]["status"], 400);
  EXPECT_EQ(items[2]["status"], 503);
  EXPECT_EQ(items[2]["store_error"], "unknown");
}

TEST_F(SlowDecisionApiTest, WithoutAnAnswerEveryOperationIsA503WhenClosed) {
  for (const std::string_view path : {"/v1/check", "/v1/charge", "/v1/refund"}) {
    Post(path, R"({"subject": "u", "limits": ["5/m"]})");
    store_.Answer(Error{ErrorCode::kUnavailable, "gone", ""});
    EXPECT_EQ(client_.reply().status, 503) << path;
    EXPECT_EQ(json::parse(client_.reply().body)["reason"], "fail_closed");
  }
  EXPECT_EQ(watch_.error(), StoreError::kUnavailable);
  client_.Send("GET", "/v1/auth?deny_status=403");
  store_.Answer(Error{ErrorCode::kSetup, "NOPERM", ""});
  EXPECT_EQ(client_.reply().status, 503);
  EXPECT_EQ(client_.reply().Header("X-Brim-Degraded"), "setup");
}

}  // namespace
}  // namespace brim::door

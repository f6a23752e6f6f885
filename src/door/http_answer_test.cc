#include "door/http_answer.h"

#include <map>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "door/rate_headers.h"

namespace brim::door {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::Contains;
using testing::Key;
using testing::Not;

Limit Of(std::string_view text) { return ParseLimit(text).value(); }

// Header lines by name.
std::map<std::string, std::string> HeadersOf(const net::HttpResponse& response) {
  std::map<std::string, std::string> headers;
  std::string_view rest = response.headers;
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    const std::size_t colon = rest.find(": ");
    headers.emplace(rest.substr(0, colon), rest.substr(colon + 2, end - colon - 2));
    rest.remove_prefix(end + 2);
  }
  return headers;
}

struct Answered {
  std::map<std::string, std::string> headers;
  json body;
};
std::vector<LimitItem> Items(const std::vector<Limit>& limits) {
  std::vector<LimitItem> items;
  for (const Limit& limit : limits) items.push_back({.limit = limit});
  return items;
}
Answered Answer(const Decision& decision, const std::vector<Limit>& limits,
                HeaderFamilies families = {}) {
  net::HttpResponse response;
  AddPolicyHeader(Items(limits), families, response);
  AddDecisionHeaders(decision, families, response);
  std::string body;
  AppendDecisionBody(decision, body);
  return {HeadersOf(response), json::parse(body)};
}

// 5 a minute and 100 a day, one unit taken of each.
Decision Allowed() {
  Decision d{.outcome = Outcome::kAllowed,
             .reason = Reason::kWithinLimit,
             .limit = 5,
             .remaining = 4,
             .window = 1min,
             .reset_after = 59'400ms,
             .line = 0,
             .lines = {}};
  d.lines.push_back({Of("5 per minute"), 1, Fit::kFits, 4, 0us, 59'400ms});
  d.lines.push_back({Of("100 per day"), 1, Fit::kFits, 99, 0us, 24h});
  return d;
}

// The minute refused, and nobody looked at the day.
Decision Limited() {
  Decision d{.outcome = Outcome::kLimited,
             .reason = Reason::kOverLimit,
             .limit = 5,
             .remaining = 2,  // a cost of 3 was refused
             .window = 1min,
             .retry_after = 11'873ms,
             .reset_after = 59'873ms,
             .line = 0,
             .lines = {}};
  d.lines.push_back({Of("5 per minute"), 3, Fit::kOver, 2, 11'873ms, 59'873ms});
  return d;
}

TEST(HttpAnswerTest, AllowedTellsTheTightestLine) {
  const auto [headers, body] = Answer(Allowed(), {Of("5 per minute"), Of("100 per day")});
  const std::map<std::string, std::string> want = {
      {"X-RateLimit-Limit", "5"},
      {"X-RateLimit-Remaining", "4"},
      {"X-RateLimit-Window", "minute"},
      {"X-RateLimit-Reset", "60"},
      {"RateLimit-Policy", R"("minute";q=5;w=60, "day";q=100;w=86400)"},
      {"RateLimit", R"("minute";r=4, "day";r=99)"}};
  EXPECT_EQ(headers, want);
  EXPECT_EQ(body,
            json::parse(R"({"allowed": true, "reason": "within_limit", "limit": 5, "remaining": 4,
      "window": "minute", "window_seconds": 60, "retry_after": 0, "retry_after_ms": 0, "reset_after_ms": 59400,
      "limits": [{"limit": 5, "window": "minute", "window_seconds": 60, "algorithm": "sliding_window",
                  "remaining": 4, "retry_after_ms": 0, "reset_after_ms": 59400},
                 {"limit": 100, "window": "day", "window_seconds": 86400, "algorithm": "sliding_window",
                  "remaining": 99, "retry_after_ms": 0, "reset_after_ms": 86400000}]})"));
  EXPECT_EQ(DecisionStatus(Allowed()), 200);
}

TEST(HttpAnswerTest, LimitedShowsNoneLeftInTheHeaderAndTheTruthElsewhere) {
  const auto [headers, body] = Answer(Limited(), {Of("100 per day"), Of("5 per minute")});
  const std::map<std::string, std::string> want = {
      {"X-RateLimit-Limit", "5"},
      {"X-RateLimit-Remaining", "0"},
      {"X-RateLimit-Window", "minute"},
      {"X-RateLimit-Reset", "12"},  // as Retry-After
      {"RateLimit-Policy", R"("minute";q=5;w=60, "day";q=100;w=86400)"},
      {"RateLimit", R"("minute";r=2;t=12)"},
      {"Retry-After", "12"},
      {"retry-after-ms", "11873"}};
  EXPECT_EQ(headers, want);
  EXPECT_EQ(body["allowed"], false);
  EXPECT_EQ(body["reason"], "over_limit");
  EXPECT_EQ(body["detail"], "Rate limit exceeded");
  EXPECT_EQ(body["remaining"], 2);
  EXPECT_EQ(body["retry_after"], 12);
  EXPECT_EQ(body["retry_after_ms"], 11873);
  EXPECT_EQ(body["limits"].size(), 1u);
  EXPECT_EQ(DecisionStatus(Limited()), 429);
}

TEST(HttpAnswerTest, WhatFitsInAMillisecondIsToldAsOneSecond) {
  Decision d = Limited();
  d.retry_after = d.lines[0].retry_after = 1us;
  const auto [headers, body] = Answer(d, {Of("5 per minute")});
  EXPECT_EQ(headers.at("Retry-After"), "1");
  EXPECT_EQ(headers.at("retry-after-ms"), "1");
  EXPECT_EQ(headers.at("X-RateLimit-Reset"), "1");
  EXPECT_EQ(headers.at("RateLimit"), R"("minute";r=2;t=1)");
}

TEST(HttpAnswerTest, WhatCanNeverFitTellsNobodyToRetry) {
  Decision d = Limited();
  d.reason = Reason::kCostExceedsLimit;
  d.retry_after = d.lines[0].retry_after = kNever;
  d.lines[0].fit = Fit::kNever;
  const auto [headers, body] = Answer(d, {Of("5 per minute")});
  EXPECT_THAT(headers, Not(Contains(Key("Retry-After"))));
  EXPECT_THAT(headers, Not(Contains(Key("retry-after-ms"))));
  EXPECT_EQ(headers.at("x-should-retry"), "false");
  EXPECT_EQ(headers.at("X-RateLimit-Reset"), "60");  // when the key is full again
  EXPECT_EQ(headers.at("RateLimit"), R"("minute";r=2)");
  EXPECT_EQ(body["reason"], "cost_exceeds_limit");
  EXPECT_TRUE(body["retry_after"].is_null());
  EXPECT_TRUE(body["retry_after_ms"].is_null());
  EXPECT_TRUE(body["limits"][0]["retry_after_ms"].is_null());
  EXPECT_EQ(DecisionStatus(d), 429);
}

TEST(HttpAnswerTest, AShadowLineThatWouldRefuseIsReportedAndMakesNobodyWait) {
  Decision d = Limited();
  d.lines.clear();
  d.lines.push_back({Of("1 per second shadow"), 1, Fit::kOver, 0, 300ms, 300ms});
  d.lines.push_back({Of("5 per minute"), 3, Fit::kOver, 2, 11'873ms, 59'873ms});
  d.line = 1;
  const auto [headers, body] = Answer(d, {Of("1 per second shadow"), Of("5 per minute")});
  EXPECT_EQ(headers.at("RateLimit"), R"("second";r=0, "minute";r=2;t=12)");
  EXPECT_EQ(body["limits"][0]["would_deny"], true);
  EXPECT_FALSE(body["limits"][1].contains("would_deny"));
}

TEST(HttpAnswerTest, AStoreFailureIsToldBesideTheReason) {
  Decision d{.outcome = Outcome::kLimited,
             .reason = Reason::kFailClosed,
             .store_error = StoreError::kUnavailable,
             .limit = 5,
             .window = 1min,
             .retry_after = 1s,
             .lines = {}};
  const auto [headers, body] = Answer(d, {Of("5 per minute")});
  EXPECT_EQ(DecisionStatus(d), 503);
  EXPECT_EQ(headers.at("Retry-After"), "1");
  EXPECT_THAT(headers, Not(Contains(Key("RateLimit")))) << "no line was looked at";
  EXPECT_EQ(body["store_error"], "unavailable");
  EXPECT_EQ(body["detail"], "Rate limiter unavailable");
  EXPECT_EQ(body["limits"], json::array());
}

TEST(HttpAnswerTest, WithoutALimitThereIsNothingToTell) {
  const auto [headers, body] = Answer(Decision{}, {});
  EXPECT_TRUE(headers.empty());
  EXPECT_EQ(body["reason"], "no_rule");
  EXPECT_TRUE(body["window"].is_null());
  EXPECT_TRUE(body["window_seconds"].is_null());
}

TEST(HttpAnswerTest, AWindowBelowASecondIsAFractionInTheBodyAndOneInThePolicy) {
  Decision d = Limited();
  d.window = 700ms;
  const auto [headers, body] = Answer(d, {Of("5 per 700 ms")});
  EXPECT_EQ(headers.at("X-RateLimit-Window"), "700ms");
  EXPECT_EQ(headers.at("RateLimit-Policy"), R"("700ms";q=5;w=1)");
  EXPECT_EQ(body["window"], "700ms");
  EXPECT_EQ(body["window_seconds"], 0.7);
}

TEST(HttpAnswerTest, FamiliesCanBeSwitchedOffByThemselves) {
  const std::vector limits = {Of("5 per minute")};
  const auto x = Answer(Limited(), limits, {.x_ratelimit = true, .ietf = false}).headers;
  EXPECT_THAT(x, Contains(Key("X-RateLimit-Window")));
  EXPECT_THAT(x, Not(Contains(Key("RateLimit"))));
  EXPECT_THAT(x, Not(Contains(Key("RateLimit-Policy"))));
  const auto ietf = Answer(Limited(), limits, {.x_ratelimit = false, .ietf = true}).headers;
  EXPECT_THAT(ietf, Not(Contains(Key("X-RateLimit-Limit"))));
  EXPECT_THAT(ietf, Contains(Key("RateLimit-Policy")));
  const auto none = Answer(Limited(), limits, {.x_ratelimit = false, .ietf = false}).headers;
  const std::map<std::string, std::string> want = {{"Retry-After", "12"},
                                                   {"retry-after-ms", "11873"}};
  EXPECT_EQ(none, want) << "HTTP's own header is of no family";
}

struct Refusal {
  int status;
  std::string type;
  std::string retry_after;
  json body;
};
Refusal Refuse(const Decision& decision, AnswerForm form) {
  net::HttpResponse response;
  response.body = "left from before";
  AnswerRefusal(decision, form, response);
  const auto headers = HeadersOf(response);
  return {response.status, headers.at("Content-Type"), headers.at("Retry-After"),
          json::parse(response.body)};
}

TEST(HttpAnswerTest, EachRefusalBody) {
  const Refusal message = Refuse(Limited(), {.deny = DenyForm::kMessage});
  EXPECT_EQ(message.status, 429);
  EXPECT_EQ(message.type, "application/json");
  EXPECT_EQ(message.body["detail"], "Rate limit exceeded");

  const Refusal object = Refuse(Limited(), {.deny = DenyForm::kObject});
  EXPECT_EQ(object.body,
            json::parse(R"({"detail": {"error": "rate limit exceeded", "retry_after": 12}})"));
  EXPECT_EQ(object.retry_after, "12");

  const Refusal problem = Refuse(Limited(), {.deny = DenyForm::kProblem, .deny_status = 403});
  EXPECT_EQ(problem.status, 403);
  EXPECT_EQ(problem.type, "application/problem+json");
  EXPECT_EQ(problem.body, json::parse(R"({
      "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
      "title": "Request cannot be satisfied as assigned quota has been exceeded", "status": 403,
      "detail": "Rate limit exceeded", "reason": "over_limit", "retry_after": 12,
      "retry_after_ms": 11873, "violated-policies": ["minute"]})"));
}

TEST(HttpAnswerTest, AProblemNamesTheLineThatRefused) {
  Decision d = Limited();
  d.lines.clear();
  d.lines.push_back({Of("9 per minute"), 1, Fit::kFits, 8, 0us, 60s});
  d.lines.push_back({Of("5 per minute fixed_window"), 3, Fit::kOver, 2, 11'873ms, 59'873ms});
  d.line = 1;
  EXPECT_EQ(Refuse(d, {.deny = DenyForm::kProblem}).body["violated-policies"],
            json::array({"minute-2"}));
}

TEST(HttpAnswerTest, AProblemOfAClosedLimiterBlamesNoLimit) {
  const Decision d{.outcome = Outcome::kLimited,
                   .reason = Reason::kFailClosed,
                   .store_error = StoreError::kUnknown,
                   .retry_after = 1s,
                   .lines = {}};
  const Refusal problem = Refuse(d, {.deny = DenyForm::kProblem, .deny_status = 403});
  EXPECT_EQ(problem.status, 503) << "only a refusal by a limit is told as another status";
  EXPECT_EQ(problem.body["violated-policies"], json::array());
  EXPECT_EQ(problem.body["store_error"], "unknown");
  EXPECT_NE(problem.body["type"].get<std::string>().find("#temporary-reduced-capacity"),
            std::string::npos);
}

TEST(HttpAnswerTest, AWholeDecisionHasStatusHeadersAndBody) {
  net::HttpResponse response;
  AnswerDecision(Limited(), 200, {}, response);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(HeadersOf(response).at("X-RateLimit-Limit"), "5");
  EXPECT_EQ(json::parse(response.body)["allowed"], false);
  std::string item;
  AppendDecisionBody(Limited(), item, 429);
  EXPECT_EQ(json::parse(item)["status"], 429);
}

TEST(HttpAnswerTest, AnErrorNamesItsField) {
  net::HttpResponse response;
  AnswerError(400, "say \"hi\"", "q", response);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body, R"({"error": "say \"hi\"", "field": "q", "detail": "say \"hi\""})");
}

TEST(PolicyHeaderTest, OrdersLinesAsDecisionsDoAndNamesEachOnce) {
  const auto items =
      Items({Of("9 per minute").WithMode(Mode::kOff), Of("8 per day"), Of("5 per minute"),
             Of("6 per minute fixed_window"), Of("0 per minute shadow")});
  EXPECT_EQ(PolicyValue(items),
            R"("minute";q=5;w=60, "minute-2";q=6;w=60, "minute-3";q=0;w=60, "day";q=8;w=86400)");
  EXPECT_EQ(PolicyValue(std::span(items).first(1)), "") << "what is off is not told";
}

// RFC 9651, as far as these two fields go: a list of strings with integer parameters.
TEST(PolicyHeaderTest, IsAStructuredField) {
  const std::regex list(
      R"re("[ -!#-\[\]-~]*"(;[a-z*][a-z0-9_.*-]*=-?[0-9]{1,15})*(, "[ -!#-\[\]-~]*"(;[a-z*][a-z0-9_.*-]*=-?[0-9]{1,15})*)*)re");
  const std::vector<Limit> limits = {Of("5 per minute"), Of("1000000000 per 366 days")};
  EXPECT_TRUE(std::regex_match(PolicyValue(Items(limits)), list)) << PolicyValue(Items(limits));
  for (const Decision& decision : {Allowed(), Limited()}) {
    const std::string state = Answer(decision, limits).headers.at("RateLimit");
    EXPECT_TRUE(std::regex_match(state, list)) << state;
  }
}

}  // namespace
}  // namespace brim::door

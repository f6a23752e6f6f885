#include "door/decision_api/check_body.h"

#include <chrono>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace brim::door {
namespace {

using testing::HasSubstr;

// "field: message" of the one check, or of the body; "" if all is well.
std::string MistakeIn(std::string_view body) {
  CheckBodyReader reader;
  const auto read = reader.Read(body);
  if (!read) return read.error().field + ": " + read.error().message;
  EXPECT_EQ(reader.checks().size(), 1u);
  const Result<CheckBody>& check = reader.checks()[0];
  return check ? "" : check.error().field + ": " + check.error().message;
}

TEST(CheckBodyTest, ReadsAllMembers) {
  CheckBodyReader reader;
  ASSERT_TRUE(
      reader.Read(R"( {"limits": ["60 per minute", {"cost": 2, "limit": "9/day fixed_window",
      "subject": "site", "scope": ""}], "cost": 3, "scope": "chat", "tier": "pro",
      "algorithm": "token_bucket", "subject": "us\u0065r"} )"));
  EXPECT_FALSE(reader.is_batch());
  ASSERT_TRUE(reader.checks()[0]);
  const CheckBody& body = *reader.checks()[0];
  EXPECT_EQ(body.request.subject, "user");
  EXPECT_EQ(body.request.scope, "chat");
  EXPECT_EQ(body.request.cost, 3);
  EXPECT_EQ(body.tier, "pro");
  ASSERT_EQ(body.request.items.size(), 2u);
  const LimitItem& own = body.request.items[0];
  EXPECT_EQ(FormatLimit(own.limit), FormatLimit(ParseLimit("60/m token_bucket").value()))
      << "the algorithm may come behind the limits";
  EXPECT_TRUE(own.subject.empty() && !own.scope && !own.cost);
  const LimitItem& shared = body.request.items[1];
  EXPECT_EQ(shared.limit.algorithm(), Algorithm::kFixedWindow);
  EXPECT_EQ(shared.subject, "site");
  EXPECT_EQ(shared.scope, "");
  EXPECT_EQ(shared.cost, 2);
}

TEST(CheckBodyTest, AllButTheSubjectIsOptional) {
  CheckBodyReader reader;
  ASSERT_TRUE(reader.Read(R"({"subject": "u"})"));
  ASSERT_TRUE(reader.checks()[0]);
  const CheckBody& body = *reader.checks()[0];
  EXPECT_EQ(body.request.cost, 1);
  EXPECT_TRUE(body.request.items.empty() && body.request.scope.empty() && !body.tier);
}

TEST(CheckBodyTest, LimitsMayBeOneText) {
  for (const std::string_view limits :
       {R"("5 per minute; 100 per day")", R"("5 per minute;100/day; ")",
        R"(["5 per minute", "100/day"])", R"(["5/m;100/day"])"}) {
    CheckBodyReader reader;
    ASSERT_TRUE(reader.Read("{\"subject\": \"u\", \"limits\": " + std::string(limits) + "}"));
    ASSERT_TRUE(reader.checks()[0]) << limits;
    const auto items = reader.checks()[0]->request.items;
    ASSERT_EQ(items.size(), 2u) << limits;
    EXPECT_EQ(items[0].limit.units(), 5);
    EXPECT_EQ(items[1].limit.window(), std::chrono::hours(24));
  }
}

TEST(CheckBodyTest, MistakesNameTheMember) {
  struct Case {
    std::string_view body;
    std::string_view field;
  };
  const Case kCases[] = {
      {R"({})", "subject"},
      {R"({"subject": ""})", "subject"},
      {R"({"subject": 5})", "subject"},
      {R"({"subject": null})", "subject"},
      {R"({"subject": "u", "subject": "v"})", "subject"},
      {R"({"subject": "u", "\u0073ubject": "v"})", "subject"},
      {R"({"subject": "u", "scope": []})", "scope"},
      {R"({"subject": "u", "tier": ""})", "tier"},
      {R"({"subject": "u", "tier": true})", "tier"},
      {R"({"subject": "u", "cost": -1})", "cost"},
      {R"({"subject": "u", "cost": 1.5})", "cost"},
      {R"({"subject": "u", "cost": 1e3})", "cost"},
      {R"({"subject": "u", "cost": "1"})", "cost"},
      {R"({"subject": "u", "cost": 9223372036854775808})", "cost"},
      {R"({"subject": "u", "cost": 1, "cost": 1})", "cost"},
      {R"({"subject": "u", "algorithm": "gcra"})", "algorithm"},
      {R"({"subject": "u", "algorithm": 1})", "algorithm"},
      {R"({"subject": "u", "limit": "5/m"})", "limit"},
      {R"({"subject": "u", "limits": 5})", "limits"},
      {R"({"subject": "u", "limits": []})", "limits"},
      {R"({"subject": "u", "limits": ""})", "limits"},
      {R"({"subject": "u", "limits": "5/m; 5 per"})", "limits"},
      {R"({"subject": "u", "limits": {"limit": "5/m"}})", "limits"},
      {R"({"subject": "u", "limits": ["5/m", "5"]})", "limits[1]"},
      {R"({"subject": "u", "limits": ["5/m", 5]})", "limits[1]"},
      {R"({"subject": "u", "limits": ["5/m", null]})", "limits[1]"},
      {R"({"subject": "u", "limits": [["5/m"]]})", "limits[0]"},
      {R"({"subject": "u", "limits": [{}]})", "limits[0].limit"},
      {R"({"subject": "u", "limits": [{"limit": "5 per moon"}]})", "limits[0].limit"},
      {R"({"subject": "u", "limits": [{"limit": "5/m; 6/h"}]})", "limits[0].limit"},
      {R"({"subject": "u", "limits": [{"limit": "5/m", "limit": "5/m"}]})", "limits[0].limit"},
      {R"({"subject": "u", "limits": ["5/m", {"limit": "5/m", "cost": 0}]})", "limits[1].cost"},
      {R"({"subject": "u", "limits": [{"limit": "5/m", "subject": ""}]})", "limits[0].subject"},
      {R"({"subject": "u", "limits": [{"limit": "5/m", "scope": 1}]})", "limits[0].scope"},
      {R"({"subject": "u", "limits": [{"limit": "5/m", "tier": "pro"}]})", "limits[0].tier"},
      {"5", "body"},
      {"null", "body"},
      {"\"u\"", "body"},
      {"", "body"},
      {R"({"subject": "u"} {})", "body"},
      {R"({"subject": "u",})", "body"},
      {"{\"subject\": \"\xff\"}", "body"},
      {R"({"subject": "\ud800"})", "body"},
      {R"({"unknown": tru, "subject": "u"})", "body"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(MistakeIn(c.body), testing::StartsWith(std::string(c.field) + ": ")) << c.body;
  }
  EXPECT_EQ(MistakeIn(R"({"subject": "u", "cost": 9223372036854775807})"), "");
}

TEST(CheckBodyTest, AMistypedMemberGetsAHint) {
  EXPECT_THAT(MistakeIn(R"({"subject": "u", "limts": []})"), HasSubstr("did you mean \"limits\"?"));
  EXPECT_THAT(MistakeIn(R"({"subject": "u", "x": 1})"), HasSubstr("there is subject scope"));
  EXPECT_LT(MistakeIn("{\"" + std::string(100'000, 'x') + "\": 1}").size(), 200u);
}

TEST(CheckBodyTest, NoMoreLimitsThanACheckCanHave) {
  const auto with = [](std::size_t count) {
    std::string body = R"({"subject": "u", "limits": ["1/s")";
    for (std::size_t i = 1; i < count; ++i) body += ", \"1/s\"";
    return body + "]}";
  };
  EXPECT_EQ(MistakeIn(with(kMaxLines)), "");
  EXPECT_THAT(MistakeIn(with(kMaxLines + 1)), testing::StartsWith("limits: at most 16"));
}

TEST(CheckBodyTest, ABadCheckOfABatchFailsAlone) {
  CheckBodyReader reader;
  ASSERT_TRUE(
      reader.Read(R"([{"subject": "a", "limits": ["1/s", "2/m"]}, {"subject": ["deep", [{}]]}, 7,
      {"subject": "b", "limits": ["3/s", "x"]}, {"subject": "c", "limits": ["4/s"]}])"));
  EXPECT_TRUE(reader.is_batch());
  const auto checks = reader.checks();
  ASSERT_EQ(checks.size(), 5u);
  ASSERT_TRUE(checks[0]);
  ASSERT_EQ(checks[0]->request.items.size(), 2u);
  EXPECT_EQ(checks[0]->request.items[1].limit.units(), 2);
  EXPECT_EQ(checks[1].error().field, "subject");
  EXPECT_EQ(checks[2].error().field, "body");
  EXPECT_EQ(checks[3].error().field, "limits[1]");
  ASSERT_TRUE(checks[4]);
  ASSERT_EQ(checks[4]->request.items.size(), 1u);
  EXPECT_EQ(checks[4]->request.items[0].limit.units(), 4);
}

TEST(CheckBodyTest, BrokenJsonFailsTheWholeBatch) {
  CheckBodyReader reader;
  EXPECT_FALSE(reader.Read(R"([{"subject": "a"}, {"subject": "b"])"));
  EXPECT_TRUE(reader.checks().empty());
}

TEST(CheckBodyTest, ABatchIsReadUpToOneCheckTooMany) {
  const auto of = [](std::size_t count) {
    std::string body = "[";
    for (std::size_t i = 0; i < count; ++i) body += R"({"subject": "u"},)";
    body.back() = ']';
    return body;
  };
  CheckBodyReader reader;
  ASSERT_TRUE(reader.Read(of(limits::kMaxBatchChecks)));
  EXPECT_EQ(reader.checks().size(), limits::kMaxBatchChecks);
  ASSERT_TRUE(reader.Read(of(limits::kMaxBatchChecks + 10)));
  EXPECT_EQ(reader.checks().size(), limits::kMaxBatchChecks + 1);
  ASSERT_TRUE(reader.Read("[]"));
  EXPECT_TRUE(reader.is_batch() && reader.checks().empty());
}

TEST(LimitTextsTest, AKnownTextIsThatOfItsAlgorithm) {
  LimitTexts texts;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(texts.Parse("5/m", Algorithm::kSlidingWindow)->algorithm(),
              Algorithm::kSlidingWindow);
    EXPECT_EQ(texts.Parse("5/m", Algorithm::kTokenBucket)->algorithm(), Algorithm::kTokenBucket);
    EXPECT_EQ(texts.Parse("6/m", Algorithm::kSlidingWindow)->units(), 6);
    EXPECT_FALSE(texts.Parse("5/", Algorithm::kSlidingWindow));
    EXPECT_EQ(texts.Parse(std::string(60, ' ') + "7/m", Algorithm::kSlidingWindow)->units(), 7);
  }
  for (int units = 0; units < 1000; ++units) {  // more than it remembers
    EXPECT_EQ(texts.Parse(std::to_string(units) + "/h", Algorithm::kSlidingWindow)->units(), units);
  }
}

}  // namespace
}  // namespace brim::door

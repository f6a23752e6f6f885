#include "door/gateway/respond.h"

#include <gtest/gtest.h>

namespace brim::door {
namespace {

using enum RespondTemplate::Fault;

TEST(RespondTemplateTest, PutsQueryValuesIntoTheirPlaces) {
  const auto respond = RespondTemplate::Parse(R"({"query": "${query.q}", "results": []})").value();
  struct Case {
    std::string_view query;
    RespondTemplate::Fault fault;
    std::string_view body;
  };
  const Case kCases[] = {
      {"q=test", kNone, R"({"query": "test", "results": []})"},
      {"a=1&q=a+b%20c&b", kNone, R"({"query": "a b c", "results": []})"},
      {"q=", kNone, R"({"query": "", "results": []})"},
      {"q", kNone, R"({"query": "", "results": []})"},
      {"q=1&q=2", kNone, R"({"query": "1", "results": []})"},
      {"q=a=b", kNone, R"({"query": "a=b", "results": []})"},
      {"q=%22%7d%5C%0d%0A%00", kNone, R"({"query": "\"}\\\r\n\u0000", "results": []})"},
      {"q=%C3%A9", kNone, "{\"query\": \"\xC3\xA9\", \"results\": []}"},
      {"q=%ff", kNone, R"({"query": "\ufffd", "results": []})"},
      {"q=${query.q}", kNone, R"({"query": "${query.q}", "results": []})"},
      {"", kMissing, ""},
      {"qq=1&Q=2", kMissing, ""},
      {"q=%", kBadEncoding, ""},
      {"q=%4", kBadEncoding, ""},
      {"q=%4g", kBadEncoding, ""},
      {"q=%-1", kBadEncoding, ""},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.query);
    std::string body;
    const auto [fault, parameter] = respond.Fill(c.query, body);
    EXPECT_EQ(fault, c.fault);
    if (c.fault == kNone) {
      EXPECT_EQ(body, c.body);
    } else {
      EXPECT_EQ(parameter, "q");
    }
  }
}

TEST(RespondTemplateTest, TextWithoutPlacesAndWithSeveral) {
  std::string body;
  EXPECT_EQ(RespondTemplate::Parse("{}").value().Fill("", body).fault, kNone);
  EXPECT_EQ(body, "{}");
  body.clear();
  EXPECT_EQ(
      RespondTemplate::Parse("[\"${query.a}${query.b}\"]").value().Fill("b=2&a=1", body).fault,
      kNone);
  EXPECT_EQ(body, R"(["12"])");
}

TEST(RespondTemplateTest, RefusesPlacesItDoesNotKnow) {
  for (const std::string_view text : {"${query.q", "${}", "${query.}", "${header.x}"}) {
    const auto respond = RespondTemplate::Parse(text);
    ASSERT_FALSE(respond) << text;
    EXPECT_EQ(respond.error().field, "respond");
  }
}

}  // namespace
}  // namespace brim::door

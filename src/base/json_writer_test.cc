#include "base/json_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace brim {
namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  AppendJsonEscaped(text, out);
  return out;
}

TEST(JsonWriterTest, PlacesCommasAndBrackets) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Key("a").Int(-5).Key("b").BeginArray().Null().Bool(true).BeginObject().EndObject();
  json.BeginArray().EndArray().EndArray().Key("c").String("x").EndObject();
  EXPECT_EQ(out, R"({"a": -5, "b": [null, true, {}, []], "c": "x"})");
}

TEST(JsonWriterTest, WritesThousandthsInTheShortestForm) {
  const std::pair<std::int64_t, std::string_view> kCases[] = {
      {0, "0"}, {60'000, "60"}, {700, "0.7"}, {1'025, "1.025"}, {20, "0.02"}, {1, "0.001"}};
  for (const auto& [thousandths, want] : kCases) {
    std::string out;
    JsonWriter(out).Thousandths(thousandths);
    EXPECT_EQ(out, want);
  }
}

TEST(JsonWriterTest, EscapesWhatJsonWantsEscaped) {
  EXPECT_EQ(Escaped("plain /text"), "plain /text");
  EXPECT_EQ(Escaped("\"\\\r\n\t"), R"(\"\\\r\n\t)");
  EXPECT_EQ(Escaped(std::string_view("\0\x1f\x7f", 3)), "\\u0000\\u001f\\u007f");
}

TEST(JsonWriterTest, KeepsValidUtf8) {
  for (const std::string_view text : {"\xC2\x80", "\xC3\xA9", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                      "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(Escaped(text), text);
  }
}

TEST(JsonWriterTest, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(Escaped("a\xFFz"), "a\\ufffdz");
  EXPECT_EQ(Escaped("\xC3"), "\\ufffd");                        // cut short
  EXPECT_EQ(Escaped("\xC3("), "\\ufffd(");                      // no continuation
  EXPECT_EQ(Escaped("\xC1\xBF"), "\\ufffd\\ufffd");             // overlong
  EXPECT_EQ(Escaped("\xE0\x9F\xBF"), "\\ufffd\\ufffd\\ufffd");  // overlong
  EXPECT_EQ(Escaped("\xED\xA0\x80"), "\\ufffd\\ufffd\\ufffd");  // a surrogate
  EXPECT_EQ(Escaped("\xF4\x90\x80\x80").size(), 4 * 6u);        // above U+10FFFF
  EXPECT_EQ(Escaped("\xE2\x82"), "\\ufffd\\ufffd");             // cut short
}

// Every two-byte text: the outcome must parse, and valid text must come back as it was.
TEST(JsonWriterTest, IsAlwaysParsedByAnotherLibrary) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char text[] = {static_cast<char>(first), static_cast<char>(second)};
      std::string out;
      JsonWriter(out).String({text, 2});
      const auto parsed = nlohmann::json::parse(out, nullptr, false);
      ASSERT_TRUE(parsed.is_string()) << first << " " << second;
      if (out.find("\\ufffd") == std::string::npos) {
        ASSERT_EQ(parsed.get<std::string>(), std::string_view(text, 2));
      }
    }
  }
}

}  // namespace
}  // namespace brim

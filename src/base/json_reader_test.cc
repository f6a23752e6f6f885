#include "base/json_reader.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace brim {
namespace {

using testing::HasSubstr;
using Type = JsonReader::Type;

bool IsValid(std::string_view text) {
  JsonReader json;
  json.Begin(text);
  return json.Skip() && json.End();
}

std::string StringIn(std::string_view text) {
  JsonReader json;
  json.Begin(text);
  std::string_view value;
  return json.String(value) && json.End() ? std::string(value) : "broken";
}

TEST(JsonReaderTest, PullsMembersAndElements) {
  JsonReader json;
  json.Begin(R"( {"a": [1, -2.5e3, []], "b": {"c": null}, "d": true} )");
  std::string seen;
  std::string_view name, digits;
  ASSERT_TRUE(json.BeginObject());
  while (json.NextMember(name)) {
    seen.append(name).append("=");
    if (!json.BeginArray()) {
      EXPECT_TRUE(json.Skip());
      continue;
    }
    while (json.NextElement()) {
      if (json.Number(digits)) {
        seen.append(digits).append(",");
      } else {
        EXPECT_EQ(json.Peek(), Type::kArray);
        EXPECT_TRUE(json.Skip());
      }
    }
  }
  EXPECT_TRUE(json.End());
  EXPECT_EQ(seen, "a=1,-2.5e3,b=d=");
}

TEST(JsonReaderTest, AnotherTypeIsNoMistake) {
  JsonReader json;
  json.Begin("7");
  std::string_view value;
  EXPECT_FALSE(json.String(value));
  EXPECT_FALSE(json.BeginObject());
  EXPECT_FALSE(json.BeginArray());
  EXPECT_TRUE(json.ok());
  EXPECT_TRUE(json.Number(value));
  EXPECT_EQ(value, "7");
  EXPECT_TRUE(json.End());
}

TEST(JsonReaderTest, StringsAreViewsUnlessTheyHaveEscapes) {
  const std::string text =
      R"(["plain", "a\u0000\"\\\/\b\f\n\r\t", "\u00e9\u20AC\ud83d\ude00", "é€😀"])";
  JsonReader json;
  json.Begin(text);
  std::string_view plain, escaped, points, raw;
  ASSERT_TRUE(json.BeginArray());
  for (std::string_view* value : {&plain, &escaped, &points, &raw}) {
    ASSERT_TRUE(json.NextElement());
    ASSERT_TRUE(json.String(*value));
  }
  EXPECT_EQ(plain.data(), text.data() + 2);
  EXPECT_EQ(escaped, std::string_view("a\0\"\\/\b\f\n\r\t", 10));
  EXPECT_EQ(points, "é€😀");
  EXPECT_EQ(raw, "é€😀");
}

TEST(JsonReaderTest, RefusesBrokenStrings) {
  for (const std::string_view text :
       {"\"", "\"a", "\"\\", "\"\\\"", R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud83d")",
        R"("\ud83d\n")", R"("\ud83d\ud83d")", R"("\ude00")", "\"\x1f\"", "\"\n\"", "\"\xff\"",
        "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\\n\xff\"", "\"\\n\x01\""}) {
    EXPECT_EQ(StringIn(text), "broken") << text;
  }
  EXPECT_EQ(StringIn(std::string_view("\"\0\"", 3)), "broken");
}

TEST(JsonReaderTest, ChecksAllThatItSkips) {
  for (const std::string_view text :
       {"0", "-0", "-12.50e+3", "1E-2", "null", "true", "false", "\"\"", "[]", "{}", "[[],{}]",
        "\t\r\n [ 1 , 2 ] ", R"({"a":{"b":[1]},"a":2})"}) {
    EXPECT_TRUE(IsValid(text)) << text;
  }
  for (const std::string_view text : {"",         " ",     "01",
                                      "-",        "+1",    ".5",
                                      "1.",       "1e",    "1e+",
                                      "0x1",      "NaN",   "nul",
                                      "True",     "truee", "[1,]",
                                      "[,1]",     "[1 2]", "[1",
                                      "[1}",      "{",     "{\"a\"}",
                                      "{\"a\":}", "{a:1}", "{\"a\":1,}",
                                      "{,}",      "{1:2}", "]",
                                      "1 2",      "[]]",   "'a'",
                                      "[1]//x",   "{}{}",  "\xEF\xBB\xBF{}"}) {
    EXPECT_FALSE(IsValid(text)) << text;
  }
}

TEST(JsonReaderTest, NestingIsBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(IsValid(nested(limits::kMaxJsonDepth)));
  EXPECT_FALSE(IsValid(nested(limits::kMaxJsonDepth + 1)));
  EXPECT_FALSE(IsValid(std::string(1'000'000, '[')));
}

TEST(JsonReaderTest, TheFirstMistakeIsToldWithItsPlaceAndStays) {
  JsonReader json;
  json.Begin(R"({"a": 1 "b": 2})");
  std::string_view name, value;
  ASSERT_TRUE(json.BeginObject());
  ASSERT_TRUE(json.NextMember(name));
  ASSERT_TRUE(json.Number(value));
  EXPECT_FALSE(json.NextMember(name));
  EXPECT_FALSE(json.ok());
  EXPECT_FALSE(json.NextMember(name));
  EXPECT_FALSE(json.Skip());
  EXPECT_FALSE(json.End());
  EXPECT_THAT(json.error().message, HasSubstr("',' or the closing bracket is expected, at byte 9"));
  json.Begin("{}");  // the next text begins anew
  EXPECT_TRUE(json.Skip() && json.End());
}

}  // namespace
}  // namespace brim

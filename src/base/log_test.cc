#include "base/log.h"

#include <gtest/gtest.h>

namespace brim {
namespace {

using namespace std::chrono_literals;

TEST(LogTest, WritesPlainValuesBare) {
  EXPECT_EQ(FormatLogLine("listening", {{"address", "127.0.0.1:8080"}, {"shards", 2}}),
            "listening address=127.0.0.1:8080 shards=2");
  EXPECT_EQ(FormatLogLine("stopped", {}), "stopped");
}

TEST(LogTest, NoValueCanForgeALineOrAFieldOrReachTheTerminal) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"", R"(e k="")"},
      {"a b", R"(e k="a b")"},
      {"a=b", R"(e k="a=b")"},
      {"x\" y=\"z", R"(e k="x\" y=\"z")"},
      {"back\\slash", R"(e k="back\\slash")"},
      {"x\r\n2026-01-01 info fake", R"(e k="x\r\n2026-01-01 info fake")"},
      {"\x1b[31mred", R"(e k="\x1b[31mred")"},
      {std::string_view("\0\x7f", 2), R"(e k="\x00\x7f")"},
      {"\xC3\xA9", R"(e k="\xc3\xa9")"}};
  for (const auto& [value, want] : kCases) EXPECT_EQ(FormatLogLine("e", {{"k", value}}), want);
}

TEST(LogTest, AnEventPassesOnceASecondAndTellsHowManyWereLeftOut) {
  LogFolder folder;
  const LogFolder::Time start{};
  EXPECT_EQ(folder.Pass("lost", start), 0);
  EXPECT_EQ(folder.Pass("lost", start + 1ms), std::nullopt);
  EXPECT_EQ(folder.Pass("lost", start + 999ms), std::nullopt);
  EXPECT_EQ(folder.Pass("back", start + 999ms), 0) << "another event has its own count";
  EXPECT_EQ(folder.Pass("lost", start + 1000ms), 2);
  EXPECT_EQ(folder.Pass("lost", start + 2000ms), 0);
}

TEST(LogTest, AJsonLineHoldsWhateverAValueHolds) {
  EXPECT_EQ(FormatLogMembers("x", {{"error", "a \"b\"\r\n\x1b[1m"}, {"count", 5}}, 3),
            R"("event": "x", "error": "a \"b\"\r\n\u001b[1m", "count": "5", "suppressed": 3)");
  EXPECT_EQ(FormatLogMembers("x", {}), R"("event": "x")");
}

}  // namespace
}  // namespace brim

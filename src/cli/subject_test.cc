#include "cli/subject.h"

#include <gtest/gtest.h>

namespace brim::cli {
namespace {

using namespace std::chrono_literals;

SubjectArgs Args(std::vector<std::string> limits) {
  SubjectArgs args;
  args.subject = "me";
  args.limits = std::move(limits);
  args.store.url = "memory://";
  return args;
}

TEST(SubjectTest, WaitsAreShownShortAndRoundedUp) {
  const std::pair<Micros, std::string_view> kCases[] = {{0us, "0 ms"},
                                                        {1us, "1 ms"},
                                                        {999ms, "999 ms"},
                                                        {1s, "1 s"},
                                                        {1001ms, "2 s"},
                                                        {59s, "59 s"},
                                                        {59'999ms, "1 min"},
                                                        {60s, "1 min"},
                                                        {61s, "1 min 1 s"},
                                                        {119'001ms, "2 min"},
                                                        {59min + 59s, "59 min 59 s"},
                                                        {1h, "1 h"},
                                                        {1h + 1s, "1 h 1 min"},
                                                        {24h, "1 d"},
                                                        {25h, "1 d 1 h"},
                                                        {366 * 24h, "366 d"}};
  for (const auto& [wait, want] : kCases) EXPECT_EQ(FormatWait(wait), want) << wait.count();
}

TEST(SubjectTest, BadArgumentsNameTheirField) {
  const auto field = [](SubjectArgs args) {
    const auto session = SubjectSession::Open(args);
    return session ? std::string("none") : session.error().field;
  };
  const SubjectArgs good = Args({"5 per minute; 100/day"});
  EXPECT_EQ(field(good), "none");
  SubjectArgs bad = good;
  bad.subject = "";
  EXPECT_EQ(field(bad), "subject");
  bad = good;
  bad.limits = {"5 per minute", "6 per minute"};
  EXPECT_EQ(field(bad), "limits");
  bad = good;
  bad.cost = -1;
  EXPECT_EQ(field(bad), "cost");
  bad = good;
  bad.store.url = "nonsense://";
  EXPECT_EQ(field(bad), "store");
}

TEST(SubjectTest, ASessionChecksAndResets) {
  const SubjectArgs args = Args({"1 per minute"});
  const auto session = SubjectSession::Open(args);
  ASSERT_TRUE(session);
  EXPECT_TRUE((*session)->Check().allowed());
  EXPECT_FALSE((*session)->Check().allowed());
  EXPECT_EQ((*session)->Reset().value(), 1);
  EXPECT_TRUE((*session)->Check().allowed());
}

}  // namespace
}  // namespace brim::cli

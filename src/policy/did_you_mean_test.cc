#include "policy/did_you_mean.h"

#include <string>

#include <gtest/gtest.h>

namespace brim {
namespace {

constexpr std::string_view kKnown[] = {"m", "min", "minute", "minutes", "shadow", "fixed_window"};

TEST(DidYouMeanTest, FindsTheNearestWord) {
  EXPECT_EQ(DidYouMean("minut", kKnown), "minute");
  EXPECT_EQ(DidYouMean("minuets", kKnown), "minutes");
  EXPECT_EQ(DidYouMean("mins", kKnown), "min");
  EXPECT_EQ(DidYouMean("shaddow", kKnown), "shadow");
  EXPECT_EQ(DidYouMean("fixedwindow", kKnown), "fixed_window");
}

TEST(DidYouMeanTest, TakesABeginningForTheWholeWord) {
  EXPECT_EQ(DidYouMean("fixed", kKnown), "fixed_window");
  EXPECT_EQ(DidYouMean("sha", kKnown), "shadow");
}

TEST(DidYouMeanTest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(DidYouMean("month", kKnown), "");
  EXPECT_EQ(DidYouMean("mo", kKnown), "");
  EXPECT_EQ(DidYouMean("", kKnown), "");
  EXPECT_EQ(DidYouMean("shad", {}), "");
  EXPECT_EQ(DidYouMean("shbdxwz", kKnown), "");
  EXPECT_EQ(DidYouMean(std::string(1024, 'm'), kKnown), "");
}

}  // namespace
}  // namespace brim

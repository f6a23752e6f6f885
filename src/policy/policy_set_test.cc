#include "policy/policy_set.h"

#include <gtest/gtest.h>

namespace brim {
namespace {

using namespace std::chrono_literals;

PolicySet WithRoutes(std::initializer_list<std::string> paths) {
  PolicySet set = DefaultPolicySet();
  for (const std::string& path : paths)
    set.routes[path] = {.name = path, .path = path, .limits = {}};
  return set;
}

std::string PathFor(const PolicySet& set, std::string_view path) {
  const RoutePolicy* const route = set.FindRoute(path);
  return route == nullptr ? "none" : route->path;
}

TEST(PolicySetTest, DefaultHasTheThreeTiers) {
  const PolicySet set = DefaultPolicySet();
  ASSERT_EQ(set.tiers.size(), 3u);
  const Tier& pro = set.FindTier("pro");
  ASSERT_EQ(pro.limits.size(), 2u);
  EXPECT_EQ(pro.limits[0].limit.units(), 60);
  EXPECT_EQ(pro.limits[0].limit.window(), 1min);
  EXPECT_EQ(pro.limits[1].limit.units(), 5000);
  EXPECT_EQ(set.FindTier("enterprise").limits[1].limit.units(), 100'000);
}

TEST(PolicySetTest, AnUnknownTierCountsAsTheDefaultOne) {
  const PolicySet set = DefaultPolicySet();
  EXPECT_EQ(set.FindTier("platinum").name, "free");
  EXPECT_EQ(set.FindTier("").name, "free");
}

TEST(PolicySetTest, LongestPathWins) {
  const PolicySet set = WithRoutes({"/", "/a/", "/a/b", "/a/b/"});
  EXPECT_EQ(PathFor(set, "/a/b"), "/a/b");
  EXPECT_EQ(PathFor(set, "/a/b/"), "/a/b/");
  EXPECT_EQ(PathFor(set, "/a/b/c/d"), "/a/b/");
  EXPECT_EQ(PathFor(set, "/a/bc"), "/a/");
  EXPECT_EQ(PathFor(set, "/a"), "/");
  EXPECT_EQ(PathFor(set, "/"), "/");
}

TEST(PolicySetTest, APathWithoutARouteHasNone) {
  const PolicySet set = WithRoutes({"/a/", "/b"});
  for (const std::string_view path : {"/", "/a", "/b/", "/b/c", "/c", "//a/", ""}) {
    EXPECT_EQ(PathFor(set, path), "none") << path;
  }
}

TEST(PolicySetTest, AModeCoversTheLimitsButThoseThatAreOff) {
  using enum Mode;
  std::vector<PolicyLimit> limits;
  for (const Mode own : {kEnforce, kShadow, kOff}) {
    limits.push_back({.limit = ParseLimit("5 per minute").value(), .own_mode = own});
  }
  const auto under = [&limits](Mode mode) {
    ApplyMode(mode, limits);
    std::vector<Mode> modes;
    for (const PolicyLimit& one : limits) modes.push_back(one.limit.mode());
    return modes;
  };
  EXPECT_EQ(under(kEnforce), (std::vector{kEnforce, kShadow, kOff}));
  EXPECT_EQ(under(kOff), (std::vector{kOff, kOff, kOff}));
  EXPECT_EQ(under(kShadow), (std::vector{kShadow, kShadow, kOff}));
  EXPECT_EQ(under(kEnforce), (std::vector{kEnforce, kShadow, kOff}));
}

TEST(PolicySetTest, NamesAreReadBack) {
  for (const DenyForm form : {DenyForm::kMessage, DenyForm::kObject, DenyForm::kProblem}) {
    EXPECT_EQ(ParseDenyForm(DenyFormName(form)), form);
  }
  for (const Mode mode : {Mode::kEnforce, Mode::kShadow, Mode::kOff}) {
    EXPECT_EQ(ParseMode(ModeName(mode)), mode);
  }
  EXPECT_FALSE(ParseMode("on"));
}

}  // namespace
}  // namespace brim

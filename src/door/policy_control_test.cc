#include "door/policy_control.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace brim::door {
namespace {

class PolicyControlTest : public testing::Test {
 protected:
  PolicyControlTest()
      : policies_(ServedPolicy::Make(std::make_shared<PolicySet>(DefaultPolicySet())).value()),
        control_(policies_, [this] { return LoadConfig(text_, "brim.yaml"); }) {}

  Units FreeLimit() const {
    return policies_.Get()->set().FindTier("free").limits[0].limit.units();
  }
  Mode FreeMode() const { return policies_.Get()->set().FindTier("free").limits[0].limit.mode(); }

  std::string text_ = "tiers: {free: [7 per minute]}\n";
  ServedPolicyHolder policies_;
  PolicyControl control_;
};

TEST_F(PolicyControlTest, AGoodFileIsServedFromNowOn) {
  EXPECT_EQ(FreeLimit(), 5);
  const PolicyChange change = control_.Reload();
  EXPECT_TRUE(change.ok);
  EXPECT_TRUE(change.needs_restart.empty());
  EXPECT_EQ(FreeLimit(), 7);
  EXPECT_TRUE(control_.status().last_ok);
  EXPECT_EQ(control_.status().good, 1u);
}

TEST_F(PolicyControlTest, ABadOneChangesNothing) {
  text_ = "tierz: {}\n";
  const PolicyChange change = control_.Reload();
  EXPECT_FALSE(change.ok);
  ASSERT_EQ(change.issues.size(), 1u);
  EXPECT_EQ(change.issues[0].place, (YamlPlace{1, 1}));
  EXPECT_EQ(FreeLimit(), 5);
  EXPECT_FALSE(control_.status().last_ok);
  EXPECT_EQ(control_.status().bad, 1u);
  text_ = "api_token_file: /nowhere/token\n";  // good by itself, and cannot be served
  EXPECT_FALSE(control_.Reload().ok);
}

TEST_F(PolicyControlTest, WhatHoldsUntilARestartIsTold) {
  text_ = "listen: 127.0.0.1:1\nstore: {nodes: 2}\n";
  const std::vector<std::string> wanted = {"listen", "store.nodes"};
  EXPECT_EQ(control_.Reload().needs_restart, wanted);
  EXPECT_EQ(control_.Reload().needs_restart, wanted) << "a second reload opens nothing, too";
}

TEST_F(PolicyControlTest, AModeHoldsThroughReloads) {
  int answers = 0;
  control_.RequestMode("free", Mode::kShadow, [&answers](const PolicyChange& change) {
    EXPECT_TRUE(change.ok);
    ++answers;
  });
  EXPECT_EQ(FreeMode(), Mode::kEnforce);
  control_.RunRequests();
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(FreeMode(), Mode::kShadow);
  EXPECT_EQ(control_.ModeOf("free"), Mode::kShadow);
  EXPECT_TRUE(control_.Reload().ok);
  EXPECT_EQ(FreeMode(), Mode::kShadow);
  EXPECT_EQ(FreeLimit(), 7);
  EXPECT_EQ(control_.ModeOf("nothing"), std::nullopt);
}

TEST_F(PolicyControlTest, EveryRequestIsAnsweredOnce) {
  std::vector<bool> answers;
  const auto note = [&answers](const PolicyChange& change) { answers.push_back(change.ok); };
  for (std::size_t i = 0; i <= limits::kMaxChangesWaiting; ++i) control_.RequestReload(note);
  EXPECT_EQ(answers, std::vector<bool>{false}) << "one too many waits not";
  control_.Close();
  EXPECT_EQ(answers.size(), limits::kMaxChangesWaiting + 1);
  control_.RequestReload(note);
  EXPECT_EQ(answers.size(), limits::kMaxChangesWaiting + 2);
  EXPECT_FALSE(answers.back());
}

}  // namespace
}  // namespace brim::door

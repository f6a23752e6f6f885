#include "store/merger.h"

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

namespace brim {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr Instant kDeadline = kStart + 50ms;

class MergerTest : public ::testing::Test {
 protected:
  static CheckLines LinesOf(std::initializer_list<const char*> subjects, Units cost = 1) {
    CheckLines lines;
    for (const char* subject : subjects) {
      Key key;
      key.Append(subject);
      lines.Add(key, ParseLimit("5 per minute").value(), cost);
    }
    return lines;
  }

  std::shared_ptr<TakeGroup> Add(const CheckLines& lines, Instant deadline = kDeadline,
                                 Instant not_before = {}) {
    const CheckName name = namer_.NameOf(lines);
    auto group = merger_.Find(name);
    if (!group) group = merger_.Make(name, MergeableTake(lines, {"sha1", "sha1"}, "12345"));
    merger_.Add(group, {deadline, nullptr}, not_before, kStart, leaving_);
    return group;
  }
  void CloseKeys(const CheckLines& lines) {
    merger_.Close(namer_.NameOf(lines).keys, kStart, leaving_);
  }

  // How many takes each call has that leaves; they stay in calls_.
  std::vector<std::size_t> Left() {
    std::vector<std::size_t> sizes;
    for (Merger::Call& call : leaving_.calls) {
      sizes.push_back(call.takers.size());
      calls_.push_back(std::move(call));
    }
    leaving_.calls.clear();
    return sizes;
  }
  std::vector<std::size_t> LeftAtEndOfTurn(Instant now = kStart) {
    merger_.LeaveDue(now, leaving_);
    return Left();
  }

  using Sizes = std::vector<std::size_t>;
  const CheckNamer namer_;
  Merger merger_{true};
  Merger::Leaving leaving_;
  std::vector<Merger::Call> calls_;
};

TEST_F(MergerTest, TakesOfOneTurnLeaveTogether) {
  for (int i = 0; i < 3; ++i) Add(LinesOf({"a"}));
  Add(LinesOf({"b"}));
  EXPECT_EQ(Left(), Sizes{});
  EXPECT_EQ(LeftAtEndOfTurn(), (Sizes{3, 1}));
  EXPECT_FALSE(merger_.anything_due());
}

TEST_F(MergerTest, LaterOnesWaitForTheReplyOfACallUnderWay) {
  const auto group = Add(LinesOf({"a"}));
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{1});
  for (int i = 0; i < 4; ++i) Add(LinesOf({"a"}));
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{});
  merger_.Answered(group, {});
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{4});
  merger_.Answered(group, {});
  EXPECT_EQ(merger_.Find(group->name), nullptr);  // nothing is kept of an idle group
}

TEST_F(MergerTest, AFullGroupLeavesAtOnceAndInSeveralCalls) {
  Add(LinesOf({"a"}));
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{1});
  for (int i = 0; i < 600; ++i) Add(LinesOf({"a"}));
  EXPECT_EQ(LeftAtEndOfTurn(), (Sizes{256, 256, 88}));
}

TEST_F(MergerTest, ManyMembersAreFewTakes) {
  for (int i = 0; i < 5; ++i) Add(LinesOf({"a"}, 64));
  EXPECT_EQ(LeftAtEndOfTurn(), (Sizes{4, 1}));
}

TEST_F(MergerTest, AnotherOperationOnAKeySendsWhatWaitsForIt) {
  const auto group = Add(LinesOf({"a", "b"}));
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{1});
  Add(LinesOf({"a", "b"}));
  Add(LinesOf({"a", "b"}));
  Add(LinesOf({"c"}));
  CloseKeys(LinesOf({"d"}));
  EXPECT_EQ(Left(), Sizes{});
  CloseKeys(LinesOf({"b"}));
  EXPECT_EQ(Left(), Sizes{2});
  Add(LinesOf({"a", "b"}));
  Add(LinesOf({"b"}));  // another check: the same holds
  EXPECT_EQ(Left(), Sizes{1});
  EXPECT_EQ(LeftAtEndOfTurn(), (Sizes{1, 1}));
  EXPECT_EQ(group->under_way, 3u);
}

TEST_F(MergerTest, TakesThatAlternateKeepTheirOrder) {
  for (const char* subject : {"b", "a", "b"}) {
    Add(std::string_view(subject) == "a" ? LinesOf({"a", "b"}) : LinesOf({"b"}));
  }
  LeftAtEndOfTurn();
  ASSERT_EQ(calls_.size(), 3u);
  EXPECT_EQ(calls_[0].group, calls_[2].group);
  EXPECT_EQ(calls_[1].group->name.keys.size(), 2u);
}

TEST_F(MergerTest, ATakeThatMightBecomeOverdueDoesNotWait) {
  Add(LinesOf({"a"}));
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{1});
  Add(LinesOf({"a"}));
  Add(LinesOf({"a"}), kDeadline - 1us);
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{2});
  EXPECT_EQ(calls_.back().deadline, kDeadline - 1us);
}

TEST_F(MergerTest, OverdueTakesLeaveBeforeTheCall) {
  const auto group = Add(LinesOf({"a"}));
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{1});
  Add(LinesOf({"a"}));
  Add(LinesOf({"a"}), kDeadline + 1us);
  merger_.Answered(group, {});
  EXPECT_EQ(LeftAtEndOfTurn(kDeadline), Sizes{1});
  EXPECT_EQ(leaving_.overdue.size(), 1u);
}

TEST_F(MergerTest, HeldTakesLeaveInTimeTogether) {
  Add(LinesOf({"a"}), kDeadline, kStart + 2ms);
  Add(LinesOf({"a"}), kDeadline, kStart + 1ms);
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{});
  EXPECT_EQ(merger_.WakeAt(), kStart + 2ms);
  EXPECT_EQ(LeftAtEndOfTurn(kStart + 2ms - 1us), Sizes{});
  EXPECT_EQ(LeftAtEndOfTurn(kStart + 2ms), Sizes{2});
  EXPECT_EQ(merger_.WakeAt(), std::nullopt);
}

TEST_F(MergerTest, NobodyIsHeldBeyondHisDeadlineOrBehindAnotherOperation) {
  Add(LinesOf({"a"}), kStart + 1ms, kStart + 1ms);
  EXPECT_EQ(LeftAtEndOfTurn(), Sizes{1});
  Add(LinesOf({"b"}), kDeadline, kStart + 1ms);
  CloseKeys(LinesOf({"b"}));
  EXPECT_EQ(Left(), Sizes{1});
}

TEST_F(MergerTest, WithoutMergingEachLeavesAtOnce) {
  Merger single(false);
  const CheckLines lines = LinesOf({"a"});
  const CheckName name = namer_.NameOf(lines);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(single.Find(name), nullptr);
    single.Add(single.Make(name, MergeableTake(lines, {"sha1", "sha1"}, "12345")),
               {kDeadline, nullptr}, {}, kStart, leaving_);
  }
  EXPECT_EQ(Left(), (Sizes{1, 1}));
}

}  // namespace
}  // namespace brim

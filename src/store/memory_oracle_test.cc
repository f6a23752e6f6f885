// The embedded store against a slow, obvious model: every unit's time in a vector, every question
// answered by counting.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/memory_store_testing.h"

namespace brim {
namespace {

using namespace std::chrono_literals;

// Times are ms. Of a fixed window each unit is one time too: that of the window's begin.
class Oracle {
 public:
  Taken Run(Op op, const std::vector<Line>& lines, std::int64_t now) {
    Taken taken;
    taken.admitted = true;
    taken.lines.resize(lines.size());
    std::size_t looked_at = 0;
    while (looked_at < lines.size() && (taken.admitted || op == Op::kPeek)) {
      const Line& line = lines[looked_at];
      const LineStatus& status = taken.lines[looked_at] = Look(line, now);
      if (taken.admitted && status.fit != Fit::kFits && line.limit.mode() == Mode::kEnforce) {
        taken.admitted = false;
        taken.refused_line = static_cast<std::int32_t>(looked_at);
      }
      ++looked_at;
    }
    for (std::size_t n = 0; n < looked_at && op == Op::kTake; ++n) {
      LineStatus& status = taken.lines[n];
      const bool fits = taken.admitted && status.fit == Fit::kFits;
      if (!fits && lines[n].limit.count() != Count::kAll) continue;
      const Fit fit = status.fit;
      Charge(lines[n], now);
      status = Look(lines[n], now);
      status.fit = fit;
      status.retry_after = RetryOf(fit, status.reset_after);
    }
    return taken;
  }
  bool Reset(const Line& line, std::int64_t now) {
    const bool was_there = !Live(line, now).empty();
    times_.erase(Name(line));
    return was_there;
  }

 private:
  static std::string Name(const Line& line) { return std::string(line.key.view()); }
  static std::int64_t WindowMs(const Line& line) { return line.limit.window() / 1ms; }
  // After a charge only a line that counts all can still be over, and it is a fixed window.
  static Micros RetryOf(Fit fit, Micros reset_after) {
    return fit == Fit::kFits ? Micros{0} : fit == Fit::kNever ? kNever : reset_after;
  }
  std::vector<std::int64_t> Live(const Line& line, std::int64_t now) {
    std::vector<std::int64_t> live;
    for (const std::int64_t time : times_[Name(line)]) {
      if (time > now - WindowMs(line)) live.push_back(time);
    }
    return live;
  }
  LineStatus Look(const Line& line, std::int64_t now) {
    const std::vector<std::int64_t> live = Live(line, now);
    const Units units = line.limit.units();
    LineStatus status;
    status.used = static_cast<Units>(live.size());
    status.remaining = std::max<Units>(0, units - status.used);
    if (!live.empty()) status.reset_after = (live.back() + WindowMs(line) - now) * 1ms;
    status.fit = line.cost > units                 ? Fit::kNever
                 : status.used + line.cost > units ? Fit::kOver
                                                   : Fit::kFits;
    if (status.fit == Fit::kNever) status.retry_after = kNever;
    if (status.fit != Fit::kOver) return status;
    std::int64_t wait = 0;  // until so many have left that the cost fits
    for (Units used = status.used; used + line.cost > units;) {
      ++wait;
      used = std::count_if(live.begin(), live.end(),
                           [&](std::int64_t time) { return time > now + wait - WindowMs(line); });
    }
    status.retry_after = wait * 1ms;
    return status;
  }
  void Charge(const Line& line, std::int64_t now) {
    std::vector<std::int64_t> live = Live(line, now);
    const bool joins = line.limit.algorithm() == Algorithm::kFixedWindow && !live.empty();
    const std::int64_t time = joins ? live.front() : now;
    live.insert(live.end(), static_cast<std::size_t>(line.cost), time);
    times_[Name(line)] = std::move(live);
  }

  std::map<std::string, std::vector<std::int64_t>> times_;
};

struct RandomLines {
  explicit RandomLines(unsigned seed) : random(seed) {}
  std::size_t Below(std::size_t n) { return random() % n; }

  // Few keys, small limits and short windows, so that every edge is hit often.
  Line Make() {
    const std::size_t number = Below(30);
    const bool fixed = number % 2 == 0;
    const LimitSpec spec{
        .units = static_cast<Units>(Below(number % 3 == 0 ? 40 : 4)),
        .window = (10 + 7 * number) * 1ms,
        .algorithm = fixed ? Algorithm::kFixedWindow : Algorithm::kSlidingWindow,
        .count = fixed && Below(3) == 0 ? Count::kAll : Count::kAdmitted,
        .mode = Below(4) == 0 ? Mode::kShadow : Mode::kEnforce,
    };
    return Line(NumberedKey("key", number), MakeLimit(spec), 1 + static_cast<Units>(Below(3)));
  }
  std::vector<Line> MakeSeveral() {
    std::vector<Line> lines;
    for (std::size_t n = Below(4) + 1; n != 0; --n) {
      const Line line = Make();
      const bool there = std::any_of(lines.begin(), lines.end(),
                                     [&](const Line& other) { return other.key == line.key; });
      if (!there) lines.push_back(line);
    }
    return lines;
  }

  std::mt19937 random;
};

void ExpectEqual(const Taken& got, const Taken& want) {
  ASSERT_EQ(got.admitted, want.admitted);
  ASSERT_EQ(got.refused_line, want.refused_line);
  ASSERT_EQ(got.lines.size(), want.lines.size());
  for (std::size_t n = 0; n < got.lines.size(); ++n) {
    SCOPED_TRACE(testing::Message() << "line " << n);
    ASSERT_EQ(got.lines[n].fit, want.lines[n].fit);
    ASSERT_EQ(got.lines[n].used, want.lines[n].used);
    ASSERT_EQ(got.lines[n].remaining, want.lines[n].remaining);
    ASSERT_EQ(got.lines[n].retry_after, want.lines[n].retry_after);
    ASSERT_EQ(got.lines[n].reset_after, want.lines[n].reset_after);
  }
}

TEST(MemoryOracleTest, AnswersAsTheObviousModelDoes) {
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  RandomLines random(seed);
  for (int round = 0; round < 20; ++round) {
    ManualStore at;
    Oracle oracle;
    std::int64_t now = 0;
    for (int step = 0; step < 2000; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << round << "/" << step);
      const auto pause =
          static_cast<std::int64_t>(random.Below(8) == 0 ? random.Below(90) : random.Below(3));
      now += pause;
      at.clock.Advance(pause * 1ms);
      const std::vector<Line> lines = random.MakeSeveral();
      if (random.Below(50) == 0) {
        ASSERT_EQ(at.Reset({&lines[0].key, 1}), oracle.Reset(lines[0], now) ? 1 : 0);
        continue;
      }
      const Op op = random.Below(5) == 0 ? Op::kPeek : Op::kTake;
      Taken got;
      at.store.TryNow({op, lines}, got);
      ExpectEqual(got, oracle.Run(op, lines, now));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace brim

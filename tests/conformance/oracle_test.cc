// Random programs of takes (some of them several in a batch, which a Redis store merges), peeks,
// charges, refunds, changes of limits and steps of time, on every store, held against the model
// step by step. On failure the seed is printed and the program shrunk to the steps that are needed.
// BRIM_ORACLE_SEED replays one, BRIM_ORACLE_PROGRAMS says how many.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>
#include <brim/testing.h>
#include "conformance/model.h"
#include "conformance/store_under_test.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSteps = 60;

struct Step {
  Micros advance;
  Op op;
  Units cost;
  bool with_receipt;          // a take keeps one, a refund uses the oldest kept
  std::size_t times;          // equal takes in one batch: a Redis store may merge them
  std::vector<Limit> limits;  // from here on, if not empty
};

struct Program {
  std::vector<Limit> limits;
  std::vector<Step> steps;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t Below(std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(engine_);
  }
  bool OneIn(std::int64_t n) { return Below(n) == 0; }
  template <typename T, std::size_t N>
  T Of(const T (&values)[N]) {
    return values[Below(N)];
  }

 private:
  std::mt19937_64 engine_;
};

const Micros kWindows[] = {1ms, 7ms, 250ms, 1s, 1500ms, 7s, 60s, 24h};

LimitSpec RandomSpec(Random& random, Micros window, Algorithm algorithm) {
  LimitSpec spec{.units = random.Below(12), .window = window, .algorithm = algorithm};
  if (random.OneIn(8)) spec.mode = Mode::kShadow;
  if (algorithm == Algorithm::kTokenBucket && spec.units != 0 && random.OneIn(2)) {
    spec.burst = random.Below(15);
  }
  if (algorithm == Algorithm::kFixedWindow && random.OneIn(3)) spec.anchor = Anchor::kAligned;
  const bool may_count_all =
      algorithm == Algorithm::kFixedWindow || algorithm == Algorithm::kTokenBucket;
  if (may_count_all && random.OneIn(4)) spec.count = Count::kAll;
  return spec;
}

// The same limits with other units: what a key is made of stays.
std::vector<Limit> Changed(Random& random, const std::vector<Limit>& limits) {
  std::vector<Limit> changed;
  for (const Limit& limit : limits) {
    LimitSpec spec = RandomSpec(random, limit.window(), limit.algorithm());
    spec.weighted = limit.weighted();
    spec.anchor = limit.anchor();
    changed.push_back(Limit::Create(spec).value());
  }
  return changed;
}

Program RandomProgram(std::uint64_t seed) {
  Random random(seed);
  Program program;
  const std::int64_t lines = 1 + random.Below(4);
  std::vector<Micros> windows(std::begin(kWindows), std::end(kWindows));
  for (std::int64_t i = 0; i < lines; ++i) {
    const auto at = windows.begin() + random.Below(static_cast<std::int64_t>(windows.size()));
    LimitSpec spec = RandomSpec(random, *at, Algorithm(random.Below(4)));
    spec.weighted = spec.algorithm == Algorithm::kSlidingWindow && random.OneIn(2);
    program.limits.push_back(Limit::Create(spec).value());
    windows.erase(at);
  }
  std::ranges::sort(program.limits, {}, &Limit::window);
  // A log that mixes both kinds of refunds cannot tell which of two units of one instant is gone.
  const bool receipts = random.OneIn(2);
  for (std::size_t i = 0; i < kSteps; ++i) {
    const Micros window = program.limits[random.Below(lines)].window();
    const Micros advances[] = {0us,        0us,          1us,    999us,        1ms,
                               window / 3, window - 1ms, window, window + 1us, 2 * window};
    Step step{.advance = random.Of(advances),
              .op = Op::kTake,
              .cost = 1,
              .with_receipt = receipts,
              .times = 1,
              .limits = {}};
    if (random.OneIn(3)) step.cost = 1 + random.Below(8);
    if (random.OneIn(10)) step.op = Op::kPeek;
    if (random.OneIn(12)) step.op = Op::kCharge;
    if (random.OneIn(6)) step.op = Op::kRefund;
    if (step.op == Op::kTake && !receipts && random.OneIn(3)) {
      step.times = static_cast<std::size_t>(2 + random.Below(6));
    }
    if (random.OneIn(15)) step.limits = Changed(random, program.limits);
    program.steps.push_back(step);
  }
  return program;
}

std::string Describe(const Program& program) {
  std::ostringstream out;
  const auto show = [&](const std::vector<Limit>& limits) {
    for (const Limit& limit : limits) {
      out << FormatLimit(limit) << (limit.count() == Count::kAll ? " (count: all)" : "") << "; ";
    }
    out << "\n";
  };
  show(program.limits);
  static const char* const kOps[] = {"take", "peek", "charge", "refund"};
  for (const Step& step : program.steps) {
    out << "  +" << step.advance.count() << " us: " << kOps[static_cast<int>(step.op)] << " "
        << step.cost << (step.with_receipt ? " (receipt) " : " ");
    if (step.times > 1) out << "x " << step.times << " ";
    step.limits.empty() ? void(out << "\n") : show(step.limits);
  }
  return out.str();
}

std::string Show(const Taken& taken) {
  std::ostringstream out;
  out << (taken.admitted ? "admitted" : "refused by line ") << taken.refused_line;
  for (const LineStatus& line : taken.lines) {
    out << " [fit " << static_cast<int>(line.fit) << ", used " << line.used << ", remaining "
        << line.remaining << ", retry " << line.retry_after.count() << ", reset "
        << line.reset_after.count() << "]";
  }
  return out.str();
}

// The same request so many times, in one batch.
std::vector<Result<Taken>> RunBatch(Store& store, const Request& request, std::size_t times) {
  std::vector<Request> requests;
  std::vector<Result<Taken>> answers;
  for (std::size_t n = 0; n < times; ++n) {
    requests.push_back({request.op, request.lines, request.wants_receipt, request.receipt});
    answers.emplace_back(Error{});
  }
  const auto missing = std::make_shared<std::atomic<std::size_t>>(times);
  store.RunBatch(requests, 5s, [&answers, missing](std::size_t i, Result<Taken> taken) {
    answers[i] = std::move(taken);
    --*missing;
    missing->notify_one();
  });
  for (std::size_t n = *missing; n != 0; n = *missing) missing->wait(n);
  return answers;
}

// The first difference between store and model, or nothing.
std::string Play(StoreKind kind, const Program& program) {
  const auto under_test = MakeStoreUnderTest(kind);
  CheckModel model(program.limits);
  std::vector<Limit> limits = program.limits;
  std::deque<std::pair<Receipt, std::vector<std::int64_t>>> receipts;
  std::deque<Units> receipt_costs;
  const std::int64_t start = ManualClock().WallNow().time_since_epoch().count();
  Micros now{0};
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!step.limits.empty()) limits = step.limits;
    now += step.advance;
    under_test->SetTime(now);
    Units cost = step.cost;
    Receipt receipt;
    std::vector<std::int64_t> expected_receipt;
    const bool refund_by_receipt = step.op == Op::kRefund && step.with_receipt;
    if (refund_by_receipt) {
      if (receipts.empty()) continue;
      receipt = std::move(receipts.front().first);
      expected_receipt = receipts.front().second;
      cost = receipt_costs.front();
      receipts.pop_front();
      receipt_costs.pop_front();
    }
    CheckLines lines;
    for (std::size_t n = 0; n < limits.size(); ++n) {
      Key key;
      key.Append("oracle:" + std::to_string(n));
      lines.Add(key, limits[n], cost);
    }
    const bool wants = step.with_receipt && step.op != Op::kRefund && step.op != Op::kPeek;
    const Request request{step.op, lines, wants, refund_by_receipt ? &receipt : nullptr};
    std::vector<Result<Taken>> answers = RunBatch(under_test->store(), request, step.times);
    for (Result<Taken>& got : answers) {
      if (!got) return "step " + std::to_string(i) + ": " + got.error().message;
      const Taken want = model.Run(step.op, limits, cost, start + now.count(),
                                   wants || refund_by_receipt ? &expected_receipt : nullptr);
      if (Show(*got) != Show(want)) {
        return "step " + std::to_string(i) + "\n  got  " + Show(*got) + "\n  want " + Show(want);
      }
    }
    Result<Taken>& got = answers.back();
    if (wants && !got->receipt.empty()) {
      receipts.emplace_back(std::move(got->receipt), expected_receipt);
      receipt_costs.push_back(cost);
    }
  }
  return "";
}

// Leaves out every step that the failure does not need.
Program Shrink(StoreKind kind, Program program) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = program.steps.size(); i-- > 0;) {
      Program without = program;
      without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
      if (Play(kind, without).empty()) continue;
      program = std::move(without);
      smaller = true;
    }
  }
  return program;
}

std::int64_t FromEnvironment(const char* name, std::int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::stoll(value);
}

class OracleTest : public ::testing::TestWithParam<StoreKind> {};

TEST_P(OracleTest, RandomProgramsAgreeWithTheModel) {
  const std::int64_t programs = FromEnvironment("BRIM_ORACLE_PROGRAMS", 60);
  const std::int64_t seed =
      FromEnvironment("BRIM_ORACLE_SEED", std::random_device{}() % 1'000'000'000);
  std::printf("seed %lld, %lld programs of %zu steps\n", static_cast<long long>(seed),
              static_cast<long long>(programs), kSteps);
  for (std::int64_t n = 0; n < programs; ++n) {
    const auto program_seed = static_cast<std::uint64_t>(seed + n);
    const Program program = RandomProgram(program_seed);
    if (Play(GetParam(), program).empty()) continue;
    const Program shrunk = Shrink(GetParam(), program);
    FAIL() << "BRIM_ORACLE_SEED=" << program_seed << "\n"
           << Describe(shrunk) << Play(GetParam(), shrunk);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryStore, OracleTest,
                         ::testing::Values(StoreKind::kMemory, StoreKind::kRedis,
                                           StoreKind::kValkey),
                         [](const auto& info) {
                           return (::testing::Message() << info.param).GetString();
                         });

// The property that brim is for, checked from the admitted times alone: no span of one window
// length, wherever it begins, holds more than the limit. For each algorithm with the bound that it
// states.
class PropertyTest : public ::testing::TestWithParam<StoreKind> {};

TEST_P(PropertyTest, NoSpanOfOneWindowHoldsMoreThanTheBound) {
  constexpr int kTakes = 1500;
  constexpr Units kUnits = 7;
  constexpr Micros kWindow = 1s;
  struct Case {
    const char* limit;
    Units bound;
  };
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (const Case& test : {Case{"7 per second", kUnits}, Case{"7 per second weighted", kUnits},
                           Case{"7 per second fixed_window", 2 * kUnits},
                           Case{"7 per second fixed_window aligned", 2 * kUnits},
                           Case{"7 per second sliding_window_counter", 2 * kUnits - 1},
                           Case{"7 per second token_bucket", 2 * kUnits}}) {
    SCOPED_TRACE(test.limit);
    Random random(seed);
    const auto under_test = MakeStoreUnderTest(GetParam());
    Limiter limiter(under_test->store(), {.store_timeout = 5s, .on_failure = OnFailure::kClosed});
    const auto limits = ParseLimits(test.limit).value();
    std::vector<std::pair<Micros, Units>> admitted;
    Micros now{0};
    for (int i = 0; i < kTakes; ++i) {
      const Micros steps[] = {0us, 1ms, 10ms, 50ms, 143ms, 999ms, 1s};
      now += random.Of(steps);
      under_test->SetTime(now);
      const Units cost = 1 + random.Below(3);
      if (limiter.Check({.subject = "u", .limits = limits, .cost = cost}).allowed()) {
        admitted.emplace_back(now, cost);
      }
    }
    for (std::size_t first = 0; first < admitted.size(); ++first) {
      Units sum = 0;
      for (std::size_t i = first;
           i < admitted.size() && admitted[i].first < admitted[first].first + kWindow; ++i) {
        sum += admitted[i].second;
      }
      ASSERT_LE(sum, test.bound) << "from " << admitted[first].first.count() << " us on";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryStore, PropertyTest,
                         ::testing::Values(StoreKind::kMemory, StoreKind::kRedis),
                         [](const auto& info) {
                           return (::testing::Message() << info.param).GetString();
                         });

}  // namespace
}  // namespace brim::testing

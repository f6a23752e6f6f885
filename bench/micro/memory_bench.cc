// What a check costs on the embedded store, in a loop, with warm caches for one key and cold ones
// for a million. Leaves out: everything around the check (no HTTP, no other work that wants the
// cache). All checks are allowed; keys are picked at random and stand in a std::string
// each.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <brim/limiter.h>
#include <brim/memory_store.h>
#include "policy/key.h"

namespace brim {
namespace {

constexpr std::size_t kKeys = 1'000'000;
constexpr std::size_t kBatch = 16;

Limit Bucket(Units units, Micros window) {
  return Limit::Create({.units = units, .window = window, .algorithm = Algorithm::kTokenBucket})
      .value();
}

// xorshift64: the same sequence in the peer's program.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::size_t Key() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % kKeys;
  }

 private:
  std::uint64_t state_;
};

std::vector<std::string> MakeSubjects() {
  std::vector<std::string> subjects;
  subjects.reserve(kKeys);
  for (std::size_t i = 0; i < kKeys; ++i) {
    subjects.push_back("user_" + std::to_string(i));
  }
  return subjects;
}

// A million keys that all were charged once, and will be for days: a key that is full again would
// be forgotten, and made anew by the next check. Made once: every case asks the same.
struct Million {
  Million() {
    for (const std::string& subject : subjects) {
      benchmark::DoNotOptimize(limiter.Check({.subject = subject, .limits = {&limit, 1}}));
    }
  }
  const std::vector<std::string> subjects = MakeSubjects();
  const Limit limit = Bucket(1000, std::chrono::hours(24));
  MemoryStore store;
  Limiter limiter{store, {.kill_switch = false}};
};

Million& TheMillion() {
  static Million million;
  return million;
}

// What every check pays to the kernel's clock, whatever brim does.
void ClockRead(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(DefaultClock().Now());
}
BENCHMARK(ClockRead);

void HotKey(benchmark::State& state) {
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = false});
  const Limit limit = Bucket(Limit::kMaxUnits, std::chrono::seconds(1));
  for (auto _ : state) {
    benchmark::DoNotOptimize(limiter.Check({.subject = "user_8421", .limits = {&limit, 1}}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(HotKey);

void OneByOne(benchmark::State& state) {
  Million& million = TheMillion();
  Random random(static_cast<std::uint64_t>(state.thread_index()) + 1);
  for (auto _ : state) {
    const std::string& subject = million.subjects[random.Key()];
    benchmark::DoNotOptimize(
        million.limiter.Check({.subject = subject, .limits = {&million.limit, 1}}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(OneByOne)->Threads(1)->Threads(2)->UseRealTime();

void Batch(benchmark::State& state) {
  Million& million = TheMillion();
  Random random(1);
  std::array<CheckRequest, kBatch> requests;
  std::array<Decision, kBatch> decisions;
  for (auto _ : state) {
    for (CheckRequest& request : requests) {
      request = {.subject = million.subjects[random.Key()], .limits = {&million.limit, 1}};
    }
    million.limiter.CheckBatch(requests, decisions);
    benchmark::DoNotOptimize(decisions);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(Batch);

// The same without the limiter: the keys are ready made, and stand in the order in which they are
// asked.
void StoreBatch(benchmark::State& state) {
  Million& million = TheMillion();
  Random random(1);
  std::vector<Line> lines;
  lines.reserve(kKeys);
  for (std::size_t i = 0; i < kKeys; ++i) {
    const std::string& subject = million.subjects[random.Key()];
    lines.emplace_back(BuildKey({}, subject, "", million.limit).value(), million.limit, 1);
  }
  std::size_t next = 0;
  std::array<Request, kBatch> requests;
  std::int64_t admitted = 0;
  for (auto _ : state) {
    for (Request& request : requests) {
      request.lines = {&lines[next], 1};
      next = next + 1 == kKeys ? 0 : next + 1;
    }
    million.store.RunBatch(
        requests, Micros(0),
        [&admitted](std::size_t, const Result<Taken>& taken) { admitted += taken->admitted; });
  }
  benchmark::DoNotOptimize(admitted);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(StoreBatch);

}  // namespace
}  // namespace brim

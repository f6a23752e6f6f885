// What a key takes in the embedded store: by its own count of bytes, and by the process's resident
// memory (which also holds what the allocator keeps). Not a matter of time: each case runs once.
#include <algorithm>
#include <fstream>
#include <string>

#include <unistd.h>

#include <benchmark/benchmark.h>

#include <brim/memory_store.h>
#include "policy/key.h"

namespace brim {
namespace {

constexpr std::int64_t kKeys = 1'000'000;
constexpr Units kMostAtOnce = 64;  // that an exact log takes in one call

std::size_t ResidentBytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void Take(MemoryStore& store, const Limit& limit, const std::string& subject, Units cost) {
  const Line line(BuildKey({}, subject, "", limit).value(), limit, cost);
  Taken taken;
  store.TryNow({Op::kTake, {&line, 1}}, taken);
  benchmark::DoNotOptimize(taken.admitted);
}

// A million keys, each with one unit.
void BytesPerKey(benchmark::State& state, Algorithm algorithm) {
  const Limit limit =
      Limit::Create({.units = 60, .window = std::chrono::minutes(60), .algorithm = algorithm})
          .value();
  for (auto _ : state) {
    const std::size_t before = ResidentBytes();
    MemoryStore store({.max_bytes = std::size_t{1} << 30});
    for (std::int64_t i = 0; i < kKeys; ++i) Take(store, limit, std::to_string(i), 1);
    const auto grown = static_cast<double>(ResidentBytes() - before);
    state.counters["bytes"] = static_cast<double>(store.stats().bytes) / kKeys;
    state.counters["resident_bytes"] = grown / kKeys;
  }
}
BENCHMARK_CAPTURE(BytesPerKey, sliding_window, Algorithm::kSlidingWindow)->Iterations(1);
BENCHMARK_CAPTURE(BytesPerKey, fixed_window, Algorithm::kFixedWindow)->Iterations(1);
BENCHMARK_CAPTURE(BytesPerKey, token_bucket, Algorithm::kTokenBucket)->Iterations(1);
BENCHMARK_CAPTURE(BytesPerKey, sliding_window_counter, Algorithm::kSlidingWindowCounter)
    ->Iterations(1);

// An exact log that is full: what each of its entries takes, beyond the key itself.
void BytesPerEntry(benchmark::State& state) {
  const Units units = state.range(0);
  const Limit limit = Limit::Create({.units = units, .window = std::chrono::hours(24)}).value();
  for (auto _ : state) {
    MemoryStore store;
    Take(store, limit, "user", 1);
    const std::size_t key = store.stats().bytes;
    for (Units left = units - 1; left > 0; left -= kMostAtOnce) {
      Take(store, limit, "user", std::min(left, kMostAtOnce));
    }
    state.counters["bytes"] =
        static_cast<double>(store.stats().bytes - key) / static_cast<double>(units - 1);
  }
}
BENCHMARK(BytesPerEntry)->Arg(100)->Arg(5'000)->Arg(100'000)->Iterations(1);

}  // namespace
}  // namespace brim

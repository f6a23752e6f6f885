// One client of a Redis server, as brim or as the plain recipe: two sliding windows a check, random
// subjects. bench/run measures the server's CPU time meanwhile.
//
// redis_load brim|pipelined|unpipelined PORT SECONDS  ->  {"checks": how many, "seconds": ...}
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <brim/limiter.h>
#include <brim/store.h>
#include "plain_recipe.h"

namespace brim::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kKeys = 100'000;
constexpr std::size_t kDepth = 64;
constexpr std::size_t kConnections = 50;

// Keeps kDepth checks under way: each answer, on the store's thread, asks the next. Lives until the
// last answer.
class BrimLoad {
 public:
  BrimLoad(Limiter& limiter, std::vector<Limit> limits, double seconds)
      : limiter_(limiter),
        limits_(std::move(limits)),
        end_(SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                      std::chrono::duration<double>(seconds))) {}

  std::uint64_t Run() {
    for (std::size_t i = 0; i < kDepth; ++i) AskNext(i);
    finished_.get_future().wait();
    return checks_;
  }

 private:
  void AskNext(std::size_t number) {
    const std::string subject = SubjectOf(number % kKeys);
    limiter_.CheckAsync({.subject = subject, .limits = limits_},
                        [this](const Decision& decision) { OnAnswer(decision); });
  }
  void OnAnswer(const Decision& decision) {
    if (decision.store_error != StoreError::kNone) Fail("the store gave no answer");
    if (SteadyClock::now() < end_) {
      ++checks_;
      AskNext(random_());
    } else if (++ended_ == kDepth) {
      finished_.set_value();
    }
  }

  Limiter& limiter_;
  const std::vector<Limit> limits_;
  const SteadyClock::time_point end_;
  std::mt19937_64 random_{std::random_device{}()};  // of the store's thread, as all below
  std::uint64_t checks_ = 0;
  std::size_t ended_ = 0;
  std::promise<void> finished_;
};

std::uint64_t RunBrim(int port, double seconds) {
  auto store = OpenStore("redis://127.0.0.1:" + std::to_string(port));
  if (!store) Fail(store.error().message);
  auto limits = ParseLimits("60 per minute; 5000 per day");
  if (!limits) Fail(limits.error().message);
  Limiter limiter(**store, {.store_timeout = std::chrono::seconds(5), .kill_switch = false});
  BrimLoad load(limiter, *limits, seconds);
  const std::uint64_t checks = load.Run();
  store->reset();  // its thread ends before what its callbacks use
  return checks;
}

std::uint64_t Run(std::string_view mode, int port, double seconds) {
  if (mode == "brim") return RunBrim(port, seconds);
  if (mode == "pipelined") return RunPlainPipelined(port, kKeys, kDepth, seconds);
  if (mode == "unpipelined") return RunPlainUnpipelined(port, kKeys, kConnections, seconds);
  Fail("usage: redis_load brim|pipelined|unpipelined PORT SECONDS");
}

}  // namespace
}  // namespace brim::bench

int main(int argc, char** argv) {
  using namespace brim::bench;
  if (argc != 4) Fail("usage: redis_load brim|pipelined|unpipelined PORT SECONDS");
  const auto start = SteadyClock::now();
  const std::uint64_t checks = Run(argv[1], std::atoi(argv[2]), std::atof(argv[3]));
  const std::chrono::duration<double> took = SteadyClock::now() - start;
  std::printf("{\"checks\": %llu, \"seconds\": %.3f}\n", static_cast<unsigned long long>(checks),
              took.count());
}

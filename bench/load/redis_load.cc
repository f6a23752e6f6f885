// One client of a Redis server, as brim or as the plain recipe: two sliding windows a check and
// random subjects, or, brim alone, one hot key. bench/run measures the server's CPU time meanwhile.
//
// redis_load MODE PORT SECONDS  ->  {"checks": how many, ...}; a mode is pipelined, unpipelined or
// one of kCases
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <brim/limiter.h>
#include "plain_recipe.h"
#include "store/redis_store.h"

namespace brim::bench {
namespace {

namespace asio = boost::asio;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kKeys = 100'000;
constexpr std::size_t kDepth = 64;
constexpr std::size_t kConnections = 50;
constexpr std::size_t kCallers = 256;

// allowed and calls (of a script): of brim alone.
struct Counts {
  std::uint64_t checks = 0;
  std::uint64_t allowed = 0;
  std::uint64_t calls = 0;
};

SteadyClock::time_point EndOf(double seconds) {
  return SteadyClock::now() +
         std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

// What a kind of run asks of the store.
struct Case {
  std::string_view mode;
  std::size_t keys;
  std::size_t depth;  // checks under way
  const char* limits;
  bool asks_less;  // merges takes, remembers refusals
};
constexpr const char* kTwoWindows = "60 per minute; 5000 per day";
constexpr Case kCases[] = {
    {"brim", kKeys, kDepth, kTwoWindows, true},
    {"hot_refused", 1, kCallers, "20 per second", true},
    {"hot_log", 1, kCallers, "100000 per 100 ms", true},
    {"hot_log_singly", 1, kCallers, "100000 per 100 ms", false},
    {"hot_bucket", 1, kCallers, "1000000000 per second token_bucket", true},
    {"hot_bucket_singly", 1, kCallers, "1000000000 per second token_bucket", false},
};

// Keeps `depth` checks under way: each answer asks the next. All of it in the thread that runs the
// loop, as a shard of the server does.
class BrimLoad {
 public:
  BrimLoad(asio::io_context& io, Limiter& limiter, const Case& load, double seconds)
      : io_(io),
        limiter_(limiter),
        load_(load),
        limits_(ParseLimits(load.limits).value()),
        end_(EndOf(seconds)) {}

  Counts Run() {
    for (std::size_t i = 0; i < load_.depth; ++i) AskNext(i);
    while (ended_ < load_.depth) io_.run_one();
    return counts_;
  }

 private:
  void AskNext(std::size_t number) {
    const std::string subject = SubjectOf(number % load_.keys);
    asking_ = true;
    limiter_.CheckAsync({.subject = subject, .limits = limits_},
                        [this](const Decision& decision) { OnAnswer(decision); });
    asking_ = false;
  }
  void OnAnswer(const Decision& decision) {
    if (decision.store_error != StoreError::kNone) Fail("the store gave no answer");
    if (SteadyClock::now() >= end_) {
      ++ended_;
      return;
    }
    ++counts_.checks;
    counts_.allowed += decision.allowed();
    if (!asking_) return AskNext(random_());
    asio::post(io_, [this] { AskNext(random_()); });  // an answer at once must not nest
  }

  asio::io_context& io_;
  Limiter& limiter_;
  const Case& load_;
  const std::vector<Limit> limits_;
  const SteadyClock::time_point end_;
  std::mt19937_64 random_{std::random_device{}()};
  Counts counts_;
  std::size_t ended_ = 0;
  bool asking_ = false;
};

Counts RunBrim(const Case& load, int port, double seconds) {
  asio::io_context io(1);
  RedisStoreOptions options;
  options.client.endpoint.port = static_cast<std::uint16_t>(port);
  options.merges_takes = load.asks_less;
  if (!load.asks_less) options.max_refusal_age = Micros(0);
  RedisStore store(io, options);
  Limiter limiter(store, {.store_timeout = std::chrono::seconds(5), .kill_switch = false});
  Counts counts = BrimLoad(io, limiter, load, seconds).Run();
  counts.calls = store.counts().script_calls;
  return counts;
}

Counts Run(std::string_view mode, int port, double seconds) {
  if (mode == "pipelined") return {RunPlainPipelined(port, kKeys, kDepth, seconds)};
  if (mode == "unpipelined") return {RunPlainUnpipelined(port, kKeys, kConnections, seconds)};
  for (const Case& load : kCases) {
    if (mode == load.mode) return RunBrim(load, port, seconds);
  }
  Fail("no such mode");
}

double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace
}  // namespace brim::bench

int main(int argc, char** argv) {
  using namespace brim::bench;
  if (argc != 4) Fail("usage: redis_load brim|pipelined|unpipelined PORT SECONDS");
  const auto start = SteadyClock::now();
  const Counts counts = Run(argv[1], std::atoi(argv[2]), std::atof(argv[3]));
  const std::chrono::duration<double> took = SteadyClock::now() - start;
  std::printf(
      "{\"checks\": %llu, \"allowed\": %llu, \"calls\": %llu, \"seconds\": %.3f, "
      "\"cpu_seconds\": %.6f}\n",
      static_cast<unsigned long long>(counts.checks),
      static_cast<unsigned long long>(counts.allowed),
      static_cast<unsigned long long>(counts.calls), took.count(), CpuSeconds());
}

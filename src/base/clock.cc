// The kernel's clock takes some 30 ns to read, a third of a check; the processor's cycle
// counter 10. Where the counter runs at one rate for ever (invariant TSC), each thread reads the
// kernel's clock once in a while and tells the time in between by the counter, never for longer
// than kTrust. So whatever happens to the counter (a virtual machine that moves, cores that
// disagree), the time is off by kTrust at most and right again after it. Two threads may differ by
// a microsecond.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include <brim/clock.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace brim {
namespace {

std::int64_t KernelNs() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

#if defined(__x86_64__)

constexpr std::uint64_t kTrustNs = 1'000'000;
constexpr std::int64_t kLearnNs =
    20'000'000;  // the longer, the more exact the rate: 5 in a million
constexpr std::uint64_t kPromptTicks = 10'000;  // a reading that took longer was interrupted
constexpr int kRateBits = 32;

bool CounterIsInvariant() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

// The kernel's time and the counter's at one moment; no ticks: they could not be read together.
struct Reading {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};

Reading Read() {
  const std::uint64_t before = __rdtsc();
  const std::int64_t ns = KernelNs();
  const std::uint64_t after = __rdtsc();
  return {after - before < kPromptTicks ? after : 0, ns};
}

// Nanoseconds a tick, times 2^kRateBits; 0 while it is not known. Learnt once, by whoever comes
// first after kLearnNs. Relaxed: it is a number that depends on no other.
std::atomic<std::uint64_t> rate{0};

void Learn(const Reading& now) {
  static const Reading first = CounterIsInvariant() ? Read() : Reading{};
  if (first.ticks == 0 || now.ticks <= first.ticks || now.ns - first.ns < kLearnNs) return;
  const auto ns = static_cast<unsigned __int128>(now.ns - first.ns);
  rate.store(static_cast<std::uint64_t>((ns << kRateBits) / (now.ticks - first.ticks)),
             std::memory_order_relaxed);
}

// Where a thread has the time from.
struct Source {
  Reading last;
  std::uint64_t trusted_ticks = 0;  // how far the counter is believed
  std::uint64_t per_tick = 0;       // as `rate`
  std::int64_t told_ns = 0;         // time does not go back behind it

  std::int64_t Tell(std::int64_t ns) { return told_ns = std::max(told_ns, ns); }
};

[[gnu::noinline]] std::int64_t ReadAgain(Source& source) {
  source.last = Read();
  source.per_tick = rate.load(std::memory_order_relaxed);
  if (source.per_tick == 0) Learn(source.last);
  const bool trusted = source.per_tick != 0 && source.last.ticks != 0;
  source.trusted_ticks = trusted ? (kTrustNs << kRateBits) / source.per_tick : 0;
  return source.Tell(source.last.ns);
}

std::int64_t NowNs() {
  thread_local Source source;
  const std::uint64_t ticks = __rdtsc() - source.last.ticks;
  if (ticks >= source.trusted_ticks) return ReadAgain(source);
  return source.Tell(source.last.ns +
                     static_cast<std::int64_t>((ticks * source.per_tick) >> kRateBits));
}

#else

std::int64_t NowNs() { return KernelNs(); }

#endif

}  // namespace

Instant SystemClock::Now() const { return Instant(Micros(NowNs() / 1000)); }

WallTime SystemClock::WallNow() const {
  return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}

const Clock& DefaultClock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace brim

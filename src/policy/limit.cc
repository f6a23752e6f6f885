#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>

#include <brim/limit.h>
#include "base/rounding.h"
#include "policy/limit_grammar.h"

namespace brim {
namespace {

Error Invalid(std::string_view field, std::string message) {
  return {ErrorCode::kInvalid, std::move(message), std::string(field)};
}

template <typename Enum>
bool InRange(Enum value, Enum last) {
  return value <= last;  // the enums count up from 0, in unsigned bytes
}

// Of window / units as a reduced fraction; a bucket of 0 units is never refilled.
std::int64_t TicksPerMicro(const LimitSpec& spec) {
  return std::max<Units>(1, spec.units) /
         std::gcd(std::max<Units>(1, spec.units), spec.window.count());
}
std::int64_t Interval(const LimitSpec& spec) {
  return spec.window.count() / std::gcd(std::max<Units>(1, spec.units), spec.window.count());
}

Result<void> CheckEnums(const LimitSpec& spec) {
  constexpr std::string_view kUnknown = "not one of the known values: use a named one";
  if (!InRange(spec.algorithm, Algorithm::kSlidingWindowCounter)) {
    return Invalid("algorithm", std::string(kUnknown));
  }
  if (!InRange(spec.anchor, Anchor::kAligned)) return Invalid("anchor", std::string(kUnknown));
  if (!InRange(spec.count, Count::kAll)) return Invalid("count", std::string(kUnknown));
  if (!InRange(spec.mode, Mode::kOff)) return Invalid("mode", std::string(kUnknown));
  if (!InRange(spec.key, KeyForm::kPlain)) return Invalid("key", std::string(kUnknown));
  return {};
}

// The bounds of a limit keep what the algorithms make of it within kMaxExact:
//   units   used + cost <= 2 * 10^9 + 1, as the limiter caps a cost at 10^9 + 1. With count: all a
//           fixed window goes on past the limit: nine million calls of that cost in one window
//           reach 2^53. The key is limited long before, and stays so.
//   time    now + window, in us, until the year 2254
//   token bucket             burst * interval (CheckTokenBucket); a debt beyond it is clipped
//   sliding-window counter   units * window_ms (CheckCounter)
// The one other product, remaining * cost to compare two lines, is made outside the scripts, in 64
// bits.
Result<void> CheckNumbers(const LimitSpec& spec) {
  if (spec.units < 0 || spec.units > Limit::kMaxUnits) {
    return Invalid("units", std::to_string(spec.units) + " units are out of range: give 0 to " +
                                std::to_string(Limit::kMaxUnits));
  }
  if (spec.window < Limit::kMinWindow || spec.window > Limit::kMaxWindow) {
    return Invalid("window", "a window of " + WindowName(spec.window) +
                                 " is out of range: give 1 ms to 366 days");
  }
  if (spec.window % std::chrono::milliseconds(1) != Micros{0}) {
    return Invalid("window", "a window of " + WindowName(spec.window) +
                                 " is not whole milliseconds: round it to some");
  }
  return {};
}

// A setting that only some algorithms have.
Result<void> CheckCombination(const LimitSpec& spec) {
  const bool fixed = spec.algorithm == Algorithm::kFixedWindow;
  const bool bucket = spec.algorithm == Algorithm::kTokenBucket;
  if (spec.count == Count::kAll && !fixed && !bucket) {
    return Invalid("count",
                   "limited calls can count too in a fixed_window or a token_bucket only: use one "
                   "of them, or count admitted calls");
  }
  if (spec.key == KeyForm::kPlain && !fixed) {
    return Invalid("key",
                   "a plain key is for a fixed_window only: use that algorithm, or the full "
                   "key");
  }
  if (spec.anchor == Anchor::kAligned && !fixed) {
    return Invalid("anchor", "aligned windows are for a fixed_window only: use that algorithm");
  }
  if (spec.burst && !bucket) {
    return Invalid("burst", "a burst is for a token_bucket only: use that algorithm");
  }
  if (spec.weighted && spec.algorithm != Algorithm::kSlidingWindow) {
    return Invalid("weighted", "only a sliding_window is weighted: the others take any cost as is");
  }
  return {};
}

Result<void> CheckTokenBucket(const LimitSpec& spec) {
  if (spec.algorithm != Algorithm::kTokenBucket) return {};
  const Units burst = spec.burst.value_or(spec.units);
  if (spec.units == 0 && burst != 0) {
    return Invalid("burst",
                   "a bucket of 0 units is never refilled: give 1 unit or more, or no burst");
  }
  if (burst < 0 || burst > Limit::kMaxUnits) {
    return Invalid("burst", "a burst of " + std::to_string(burst) + " is out of range: give 0 to " +
                                std::to_string(Limit::kMaxUnits));
  }
  if (burst > kMaxExact / Interval(spec)) {
    return Invalid("burst", "a burst of " + std::to_string(burst) + " at " +
                                std::to_string(spec.units) + " per " + WindowName(spec.window) +
                                " is too fine to be exact: at most " +
                                std::to_string(kMaxExact / Interval(spec)) +
                                ", or units that divide the window better");
  }
  return {};
}

Result<void> CheckCounter(const LimitSpec& spec) {
  if (spec.algorithm != Algorithm::kSlidingWindowCounter) return {};
  const std::int64_t most = kMaxExact / (spec.window / std::chrono::milliseconds(1));
  if (spec.units <= most) return {};
  return Invalid("units", std::to_string(spec.units) + " units per " + WindowName(spec.window) +
                              " are too many for a sliding_window_counter to be exact: at most " +
                              std::to_string(most) + ", or another algorithm");
}

std::string KeySuffixOf(const LimitSpec& spec) {
  if (spec.key == KeyForm::kPlain) return "";
  constexpr Micros kSecond = std::chrono::seconds(1);
  const std::string window = spec.window % kSecond == Micros{0}
                                 ? std::to_string(spec.window / kSecond)
                                 : std::to_string(WholeMs(spec.window)) + "ms";
  switch (spec.algorithm) {
    case Algorithm::kSlidingWindow:
      return ":" + window + (spec.weighted ? ":w" : "");
    case Algorithm::kFixedWindow:
      return ":" + window + ":fixed";
    case Algorithm::kTokenBucket:
      return ":" + window + ":gcra";
    case Algorithm::kSlidingWindowCounter:
      return ":" + window + ":counter";
  }
  return {};
}

const WindowUnit* LargestUnitOf(Micros window) {
  const auto* unit = std::find_if(
      std::begin(kWindowUnits), std::end(kWindowUnits), [window](const WindowUnit& candidate) {
        return window >= candidate.length && window % candidate.length == Micros{0};
      });
  return unit == std::end(kWindowUnits) ? nullptr : unit;
}

}  // namespace

Result<Limit> Limit::Create(const LimitSpec& spec) {
  for (const auto check :
       {CheckEnums, CheckNumbers, CheckCombination, CheckTokenBucket, CheckCounter}) {
    if (Result<void> valid = check(spec); !valid) return valid.error();
  }
  return Limit(spec);
}

Limit::Limit(const LimitSpec& spec)
    : spec_(spec), interval_(Interval(spec)), ticks_per_us_(TicksPerMicro(spec)) {
  if (!spec_.burst) spec_.burst = spec_.units;
  key_suffix_.size = static_cast<std::uint8_t>(
      KeySuffixOf(spec).copy(key_suffix_.bytes, sizeof(key_suffix_.bytes)));
}

Limit Limit::ShareOf(std::int64_t nodes) const {
  const auto share = [nodes](Units units) {
    return std::min(units, std::max<Units>(1, units / nodes));
  };
  LimitSpec spec = spec_;
  spec.units = share(spec.units);
  // A share may be a finer fraction than the whole: then the burst gives way, never exactness.
  spec.burst = std::min(share(*spec.burst), kMaxExact / Interval(spec));
  return Limit(spec);
}

Limit Limit::WithMode(Mode mode) const {
  LimitSpec spec = spec_;
  spec.mode = mode;
  return Limit(spec);
}

std::string FormatLimit(const Limit& limit) {
  const WindowUnit& unit = *LargestUnitOf(limit.window());  // whole milliseconds: there is one
  const std::int64_t count = limit.window() / unit.length;
  std::string text = std::to_string(limit.units()) + " per ";
  text +=
      count == 1 ? std::string(unit.name) : std::to_string(count) + " " + std::string(unit.plural);
  if (limit.algorithm() == Algorithm::kTokenBucket && limit.burst() != limit.units()) {
    text.append(" burst ").append(std::to_string(limit.burst()));
  } else if (limit.algorithm() != Algorithm::kSlidingWindow) {
    text.append(" ").append(AlgorithmName(limit.algorithm()));
  }
  if (limit.anchor() == Anchor::kAligned) text += " aligned";
  if (limit.weighted()) text += " weighted";
  if (limit.mode() == Mode::kShadow) text += " shadow";
  return text;
}

std::string WindowName(Micros window) {
  const WindowUnit* unit = LargestUnitOf(window);
  if (unit == nullptr) return std::to_string(window.count()) + "us";  // of no valid limit
  const std::int64_t count = window / unit->length;
  if (count == 1 && unit->name != unit->brief) return std::string(unit->name);
  return std::to_string(count) + std::string(unit->brief);
}

std::string_view AlgorithmName(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kSlidingWindow:
      return "sliding_window";
    case Algorithm::kFixedWindow:
      return "fixed_window";
    case Algorithm::kTokenBucket:
      return "token_bucket";
    case Algorithm::kSlidingWindowCounter:
      return "sliding_window_counter";
  }
  return {};
}

std::optional<Algorithm> ParseAlgorithm(std::string_view name) {
  for (const Algorithm algorithm : {Algorithm::kSlidingWindow, Algorithm::kFixedWindow,
                                    Algorithm::kTokenBucket, Algorithm::kSlidingWindowCounter}) {
    if (AlgorithmName(algorithm) == name) return algorithm;
  }
  return std::nullopt;
}

}  // namespace brim

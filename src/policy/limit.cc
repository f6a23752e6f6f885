#include <brim/limit.h>

#include <algorithm>
#include <string>

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

Result<void> CheckEnums(const LimitSpec& spec) {
  constexpr std::string_view kUnknown = "not one of the known values: use a named one";
  if (!InRange(spec.algorithm, Algorithm::kFixedWindow)) {
    return Invalid("algorithm", std::string(kUnknown));
  }
  if (!InRange(spec.anchor, Anchor::kFirstHit)) return Invalid("anchor", std::string(kUnknown));
  if (!InRange(spec.count, Count::kAll)) return Invalid("count", std::string(kUnknown));
  if (!InRange(spec.mode, Mode::kOff)) return Invalid("mode", std::string(kUnknown));
  if (!InRange(spec.key, KeyForm::kPlain)) return Invalid("key", std::string(kUnknown));
  return {};
}

// These bounds keep every number that an algorithm makes within 2^53, up to which a double (all
// that Lua has) holds each integer. Both algorithms add and subtract, and multiply nothing:
//   units   used + cost           <= 2 * 10^9 + 1, as the limiter caps a cost at 10^9 + 1. With
//                                 count: all `used` goes on past the limit: nine million calls of
//                                 that cost in one window reach 2^53. The key is limited long
//                                 before, and stays so: only the count's last digits blur.
//   time    now + window, in us   <  2^53 until the year 2254: 366 days are 3.2 * 10^13 us, and
//                                 2^53 us are 285 years since 1970; the scripts' ms are far below
// The one product, remaining * cost to compare two lines, is made outside the scripts, in 64 bits:
// 10^9 * 10^9 < 2^63. A rate (window / units) would be a product of both; who adds an algorithm
// that makes one has to bound it here.
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

Result<void> CheckCombination(const LimitSpec& spec) {
  if (spec.algorithm == Algorithm::kFixedWindow) return {};
  if (spec.count == Count::kAll) {
    return Invalid("count",
                   "limited calls can count too in a fixed_window only: use that "
                   "algorithm, or count admitted calls");
  }
  if (spec.key == KeyForm::kPlain) {
    return Invalid("key",
                   "a plain key is for a fixed_window only: use that algorithm, or the full "
                   "key");
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
  for (const auto check : {CheckEnums, CheckNumbers, CheckCombination}) {
    if (Result<void> valid = check(spec); !valid) return valid.error();
  }
  return Limit(spec);
}

Limit Limit::WithUnits(Units units) const {
  LimitSpec spec = spec_;
  spec.units = std::clamp<Units>(units, 0, kMaxUnits);
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
  if (limit.algorithm() != Algorithm::kSlidingWindow) {
    text.append(" ").append(AlgorithmName(limit.algorithm()));
  }
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
  }
  return {};
}

}  // namespace brim

#include "limiter/match.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>

namespace brim {
namespace {

// Costs above every limit are all alike: they never fit. Bounding them keeps sums far from 2^53.
Units LineCost(Units cost) { return cost == 0 ? 1 : std::min(cost, Limit::kMaxUnits + 1); }

Error Invalid(std::string_view field, std::initializer_list<std::string_view> message) {
  Error error{ErrorCode::kInvalid, "", std::string(field)};
  for (const std::string_view part : message) error.message.append(part);
  return error;
}

// A take that costs more than the limit holds never fits; only then, what a log cannot take is an
// error.
Result<void> CheckCost(const Limit& limit, Op op, Units cost) {
  const bool never_fits = op == Op::kTake && cost > limit.capacity();
  const bool plain_log = limit.algorithm() == Algorithm::kSlidingWindow && !limit.weighted();
  if (!plain_log || cost <= kMaxLogCost || never_fits) return {};
  return Invalid("cost", {"cost ", std::to_string(cost), " is too much for the exact log of \"",
                          FormatLimit(limit), "\": it keeps one entry a unit, at most ",
                          std::to_string(kMaxLogCost),
                          " a call; add the word \"weighted\" to the limit, or split the cost"});
}

Error SameKey(const Limit& one, const Limit& other) {
  return Invalid("limits", {"\"", FormatLimit(one), "\" and \"", FormatLimit(other),
                            "\" would count under the same key; keep one of them, or give them "
                            "different windows or algorithms"});
}

}  // namespace

Result<void> MatchLines(const KeyOptions& options, const CheckRequest& request, Op op,
                        CheckLines& lines) {
  if (request.cost < 0) {
    return Invalid("cost", {"cost ", std::to_string(request.cost),
                            " is negative; give 1 or more, or 0 to peek"});
  }
  if (request.cost == 0 && (op == Op::kCharge || op == Op::kRefund)) {
    return Invalid("cost", {"a charge or a refund of 0 does nothing; give 1 or more"});
  }
  const std::span<const Limit> limits = request.limits;
  if (limits.size() > kMaxLines) {
    return Invalid("limits", {std::to_string(limits.size()), " limits in one check; at most ",
                              std::to_string(kMaxLines)});
  }
  std::array<std::uint8_t, kMaxLines> order;
  std::iota(order.begin(), order.begin() + limits.size(), std::uint8_t{0});
  // Stable and without the heap; lists are short, and nearly always sorted already.
  for (std::size_t i = 1; i < limits.size(); ++i) {
    for (std::size_t j = i; j > 0 && limits[order[j]].window() < limits[order[j - 1]].window();
         --j) {
      std::swap(order[j], order[j - 1]);
    }
  }
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Limit& limit = limits[order[i]];
    if (limit.mode() == Mode::kOff) continue;
    if (auto fits = CheckCost(limit, op, request.cost); !fits) return fits;
    const Result<Key> key = BuildKey(options, request.subject, request.scope, limit);
    if (!key) return key.error();
    for (const Line& other : lines) {
      if (other.key == *key) return SameKey(other.limit, limit);
    }
    lines.Add(*key, limit, LineCost(request.cost));
  }
  return {};
}

}  // namespace brim

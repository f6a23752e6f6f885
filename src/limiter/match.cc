#include "limiter/match.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
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

// One line of the check to be, with what it takes from the request filled in.
struct Wanted {
  const Limit* limit;
  std::string_view subject;
  std::string_view scope;
  Units cost;
};

using WantedLines = StaticVector<Wanted, kMaxLines>;

Error TooManyLimits(std::size_t count) {
  return Invalid("limits", {std::to_string(count), " limits in one check; give at most ",
                            std::to_string(kMaxLines), ", or split the check"});
}

Result<void> CheckItemCosts(const CheckRequest& request) {
  for (const LimitItem& item : request.items) {
    if (!item.cost || *item.cost > 0) continue;
    return Invalid("cost", {"the cost ", std::to_string(*item.cost), " of \"",
                            FormatLimit(item.limit), "\" is less than 1; give 1 or more"});
  }
  return {};
}

// Shortest window first, equal ones in the order given. Stable and without the heap; lists are
// short, and nearly always sorted already.
void Insert(const Wanted& wanted, WantedLines& lines) {
  if (wanted.limit->mode() == Mode::kOff) return;
  std::size_t at = lines.size();
  lines.push_back(wanted);
  for (; at > 0 && wanted.limit->window() < lines[at - 1].limit->window(); --at) {
    lines[at] = lines[at - 1];
  }
  lines[at] = wanted;
}

Result<void> AddLine(const KeyEncoder& keys, Op op, const Wanted& wanted, CheckLines& lines) {
  const Limit& limit = *wanted.limit;
  if (auto fits = CheckCost(limit, op, wanted.cost); !fits) return fits;
  const Result<Key> key = keys.Build(wanted.subject, wanted.scope, limit);
  if (!key) return key.error();
  for (const Line& other : lines) {
    if (other.key == *key) return SameKey(other.limit, limit);
  }
  lines.Add(*key, limit, LineCost(wanted.cost));
  return {};
}

}  // namespace

Result<void> MatchLines(const KeyEncoder& keys, const CheckRequest& request, Op op,
                        CheckLines& lines) {
  const auto& [subject, limits, cost, scope, items] = request;
  if (cost < 0) {
    return Invalid("cost",
                   {"cost ", std::to_string(cost), " is negative; give 1 or more, or 0 to peek"});
  }
  if (cost == 0 && (op == Op::kCharge || op == Op::kRefund)) {
    return Invalid("cost", {"a charge or a refund of 0 does nothing; give 1 or more"});
  }
  if (limits.size() + items.size() > kMaxLines) return TooManyLimits(limits.size() + items.size());
  if (auto costs = CheckItemCosts(request); !costs) return costs;
  WantedLines wanted;
  for (const Limit& limit : limits) Insert({&limit, subject, scope, cost}, wanted);
  for (const LimitItem& item : items) {
    Insert({&item.limit, item.subject.empty() ? subject : item.subject, item.scope.value_or(scope),
            op == Op::kPeek ? cost : item.cost.value_or(cost)},
           wanted);
  }
  for (const Wanted& one : wanted) {
    if (auto added = AddLine(keys, op, one, lines); !added) return added;
  }
  return {};
}

}  // namespace brim

#include "conformance/model.h"

#include <algorithm>
#include <map>
#include <optional>

#include <boost/multiprecision/cpp_int.hpp>

namespace brim::testing {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

std::int64_t Ms(std::int64_t us) { return us / 1000; }
std::int64_t WindowMs(const Limit& limit) { return limit.window().count() / 1000; }
Micros Millis(std::int64_t ms) { return Micros(ms * 1000); }

std::int64_t Floor(const cpp_rational& value) {  // of what is not negative
  return static_cast<std::int64_t>(cpp_int(numerator(value) / denominator(value)));
}
std::int64_t Ceil(const cpp_rational& value) {
  return static_cast<std::int64_t>(
      cpp_int((numerator(value) + denominator(value) - 1) / denominator(value)));
}

// From "how much is used at time t" to a status: the first ms from now on at which the cost fits.
template <typename UsedAt>
LineStatus StatusOf(const Limit& limit, Units cost, std::int64_t now_ms, std::int64_t full_ms,
                    UsedAt used_at) {
  LineStatus status;
  status.used = used_at(now_ms);
  status.remaining = std::max<Units>(0, limit.units() - status.used);
  status.reset_after = Millis(full_ms - now_ms);
  status.fit = status.used + cost <= limit.units() ? Fit::kFits : Fit::kOver;
  if (cost > limit.units()) {
    status.fit = Fit::kNever;
    status.retry_after = kNever;
  } else if (status.fit == Fit::kOver) {
    // Use only falls while nothing is charged: halve the span in which it falls enough.
    std::int64_t over = now_ms;
    std::int64_t fits = full_ms;
    while (fits - over > 1) {
      const std::int64_t middle = over + (fits - over) / 2;
      (used_at(middle) + cost <= limit.units() ? fits : over) = middle;
    }
    status.retry_after = Millis(fits - now_ms);
  }
  return status;
}

class LogModel final : public KeyModel {
 public:
  LineStatus Look(const Limit& limit, Units cost, std::int64_t now_us) override {
    const std::int64_t window = WindowMs(limit);
    std::int64_t full = Ms(now_us);
    for (const Entry& entry : entries_) full = std::max(full, entry.ms + window);
    return StatusOf(limit, cost, Ms(now_us), full, [&](std::int64_t at) {
      Units used = 0;
      for (const Entry& entry : entries_) used += at - entry.ms < window ? entry.cost : 0;
      return used;
    });
  }
  std::int64_t Charge(const Limit&, Units cost, std::int64_t now_us, bool) override {
    entries_.push_back({Ms(now_us), cost, ++last_id_});
    return last_id_;
  }
  void Refund(const Limit& limit, Units cost, std::int64_t now_us,
              const std::int64_t* stamp) override {
    std::erase_if(entries_,
                  [&](const Entry& entry) { return Ms(now_us) - entry.ms >= WindowMs(limit); });
    if (stamp != nullptr && !limit.weighted()) {
      std::erase_if(entries_, [&](const Entry& entry) { return entry.id == *stamp; });
      return;
    }
    for (Entry& entry : entries_) {
      const Units back = std::min(cost, entry.cost);
      entry.cost -= back;
      cost -= back;
    }
    std::erase_if(entries_, [](const Entry& entry) { return entry.cost == 0; });
  }

 private:
  struct Entry {
    std::int64_t ms;
    Units cost;
    std::int64_t id;
  };
  std::vector<Entry> entries_;
  std::int64_t last_id_ = 0;
};

class FixedModel final : public KeyModel {
 public:
  LineStatus Look(const Limit& limit, Units cost, std::int64_t now_us) override {
    Forget(now_us);
    const std::int64_t full = used_ == 0 ? Ms(now_us) : end_ms_;
    return StatusOf(limit, cost, Ms(now_us), full,
                    [&](std::int64_t at) { return at < full ? used_ : 0; });
  }
  std::int64_t Charge(const Limit& limit, Units cost, std::int64_t now_us, bool) override {
    Forget(now_us);
    const std::int64_t window = WindowMs(limit);
    if (used_ == 0) {
      end_ms_ = limit.anchor() == Anchor::kAligned ? (Ms(now_us) / window + 1) * window
                                                   : Ms(now_us) + window;
    }
    used_ += cost;
    return end_ms_;
  }
  void Refund(const Limit&, Units cost, std::int64_t now_us, const std::int64_t* stamp) override {
    Forget(now_us);
    if (stamp == nullptr || *stamp == end_ms_) used_ -= std::min(cost, used_);
  }

 private:
  void Forget(std::int64_t now_us) {
    if (Ms(now_us) >= end_ms_) used_ = 0;
  }
  std::int64_t end_ms_ = 0;
  Units used_ = 0;
};

class CounterModel final : public KeyModel {
 public:
  LineStatus Look(const Limit& limit, Units cost, std::int64_t now_us) override {
    const std::int64_t window = WindowMs(limit);
    const std::int64_t now = Ms(now_us) / window;
    std::int64_t full = Ms(now_us);
    if (counts_[now - 1] > 0) full = (now + 1) * window;
    if (counts_[now] > 0) full = (now + 2) * window;
    return StatusOf(limit, cost, Ms(now_us), full, [&](std::int64_t at) {
      const std::int64_t index = at / window;
      const cpp_int left = (index + 1) * window - at;
      const cpp_rational share{counts_[index - 1] * left, cpp_int(window)};
      return counts_[index] + Ceil(share);
    });
  }
  std::int64_t Charge(const Limit& limit, Units cost, std::int64_t now_us, bool) override {
    counts_[Ms(now_us) / WindowMs(limit)] += cost;
    return Ms(now_us) / WindowMs(limit);
  }
  void Refund(const Limit& limit, Units cost, std::int64_t now_us,
              const std::int64_t* stamp) override {
    const std::int64_t now = Ms(now_us) / WindowMs(limit);
    if (stamp != nullptr && *stamp != now) return;
    for (const std::int64_t index : {now - 1, now}) {
      if (stamp != nullptr && index != now) continue;
      const Units back = std::min(cost, counts_[index]);
      counts_[index] -= back;
      cost -= back;
    }
  }

 private:
  std::map<std::int64_t, Units> counts_;  // by number of the window since the epoch
};

// The debt is a rational number of units. Only a change of the limit rounds it, up to whole ticks.
class BucketModel final : public KeyModel {
 public:
  LineStatus Look(const Limit& limit, Units cost, std::int64_t now_us) override {
    const cpp_rational debt = DebtAt(limit, now_us);
    LineStatus status;
    status.used = Ceil(debt);
    status.remaining = debt >= limit.burst() ? 0 : Floor(limit.burst() - debt);
    status.reset_after = Micros(Ceil(debt / RateOf(limit)));
    status.fit = debt + cost <= limit.burst() ? Fit::kFits : Fit::kOver;
    if (cost > limit.burst()) {
      status.fit = Fit::kNever;
      status.retry_after = kNever;
    } else if (status.fit == Fit::kOver) {
      status.retry_after = Micros(Ceil((debt + cost - limit.burst()) / RateOf(limit)));
    }
    return status;
  }
  std::int64_t Charge(const Limit& limit, Units cost, std::int64_t now_us, bool fits) override {
    Pay(limit, now_us);
    const cpp_rational after = debt_ + cost;
    debt_ = fits ? after : std::max(debt_, std::min<cpp_rational>(after, limit.burst()));
    return now_us + Floor(debt_ / RateOf(limit));
  }
  void Refund(const Limit& limit, Units cost, std::int64_t now_us,
              const std::int64_t* stamp) override {
    Pay(limit, now_us);
    cpp_rational owed = debt_;
    if (stamp != nullptr) {
      const std::int64_t left = std::max<std::int64_t>(0, *stamp - now_us);
      owed = std::min<cpp_rational>(owed, left * RateOf(limit));
    }
    debt_ -= std::min<cpp_rational>(owed, cost);
  }
  void Heal(const Limit& limit, std::int64_t now_us) override {
    if (debt_ != 0 && RateOf(limit) != rate_) Pay(limit, now_us);
  }

 private:
  static cpp_rational RateOf(const Limit& limit) {  // units a microsecond
    return cpp_rational(std::max<Units>(1, limit.units()), limit.window().count());
  }
  cpp_rational DebtAt(const Limit& limit, std::int64_t now_us) const {
    if (debt_ == 0) return 0;
    const cpp_rational debt = std::max<cpp_rational>(0, debt_ - (now_us - at_us_) * rate_);
    if (RateOf(limit) == rate_) return debt;
    return cpp_rational(Ceil(debt * limit.interval()), limit.interval());
  }
  void Pay(const Limit& limit, std::int64_t now_us) {
    debt_ = DebtAt(limit, now_us);
    at_us_ = now_us;
    rate_ = RateOf(limit);
  }
  cpp_rational debt_ = 0;
  cpp_rational rate_ = 1;
  std::int64_t at_us_ = 0;
};

std::unique_ptr<KeyModel> MakeKeyModel(const Limit& limit) {
  switch (limit.algorithm()) {
    case Algorithm::kSlidingWindow:
      return std::make_unique<LogModel>();
    case Algorithm::kFixedWindow:
      return std::make_unique<FixedModel>();
    case Algorithm::kTokenBucket:
      return std::make_unique<BucketModel>();
    case Algorithm::kSlidingWindowCounter:
      return std::make_unique<CounterModel>();
  }
  return nullptr;
}

}  // namespace

CheckModel::CheckModel(std::span<const Limit> limits) {
  for (const Limit& limit : limits) keys_.push_back(MakeKeyModel(limit));
}

Taken CheckModel::Run(Op op, std::span<const Limit> limits, Units cost, std::int64_t now_us,
                      std::vector<std::int64_t>* receipt) {
  Taken taken;
  taken.admitted = true;
  taken.lines.resize(limits.size());
  const bool forced = op == Op::kCharge || op == Op::kRefund;
  std::size_t looked_at = 0;
  for (; looked_at < limits.size(); ++looked_at) {
    LineStatus& status = taken.lines[looked_at];
    status = keys_[looked_at]->Look(limits[looked_at], cost, now_us);
    const bool refuses =
        !forced && status.fit != Fit::kFits && limits[looked_at].mode() == Mode::kEnforce;
    if (!refuses || !taken.admitted) continue;
    taken.admitted = false;
    taken.refused_line = static_cast<std::int32_t>(looked_at);
    if (op == Op::kTake) {
      ++looked_at;
      break;
    }
  }
  if (op == Op::kPeek) return taken;
  for (std::size_t i = 0; i < looked_at; ++i) {
    KeyModel& key = *keys_[i];
    const Limit& limit = limits[i];
    const bool fits = forced || taken.lines[i].fit == Fit::kFits;
    if (op == Op::kRefund) {
      const std::int64_t* stamp = receipt == nullptr ? nullptr : &receipt->at(i);
      if (stamp == nullptr || *stamp != Receipt::kNotCharged)
        key.Refund(limit, cost, now_us, stamp);
    } else if (limit.count() == Count::kAll || (taken.admitted && fits)) {
      const std::int64_t stamp = key.Charge(limit, cost, now_us, fits);
      if (receipt != nullptr && taken.admitted) receipt->push_back(stamp);
    } else {
      key.Heal(limit, now_us);
      if (receipt != nullptr && taken.admitted) receipt->push_back(Receipt::kNotCharged);
    }
    // After the operation: the numbers are new, the answer to whether it fit is the one before it.
    const LineStatus after = key.Look(limit, cost, now_us);
    LineStatus& status = taken.lines[i];
    status.used = after.used;
    status.remaining = after.remaining;
    status.reset_after = after.reset_after;
    if (fits) {
      status.fit = Fit::kFits;
      status.retry_after = Micros{0};
    } else if (status.fit == Fit::kOver) {
      status.retry_after = after.retry_after;
    }
  }
  return taken;
}

}  // namespace brim::testing

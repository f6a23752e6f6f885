#include "algorithm/token_bucket.h"

#include <algorithm>

#include "base/rounding.h"

namespace brim {
namespace {

constexpr std::int64_t kMaxDebt = kMaxExact - 1;

// ceil(value * by / over). REQUIRES: value < over, so that the result is at most `by`.
std::int64_t ScaleUp(std::int64_t value, std::int64_t by, std::int64_t over) {
  const auto product = static_cast<unsigned __int128>(value) * static_cast<unsigned __int128>(by);
  return static_cast<std::int64_t>((product + static_cast<unsigned __int128>(over - 1)) /
                                   static_cast<unsigned __int128>(over));
}

// The same units as a debt at another interval, rounded up.
std::int64_t Rescale(std::int64_t debt, std::int64_t from, std::int64_t to) {
  const std::int64_t units = debt / from;
  if (units >= kMaxDebt / to) return kMaxDebt;
  return units * to + ScaleUp(debt % from, to, from);
}

// Brings the bucket up to now, in the limit's own ticks. Time that stepped back stands still.
void MakeCurrent(const Limit& limit, TokenBucketState& state, std::int64_t now_us) {
  const std::int64_t interval = limit.interval();
  const std::int64_t ticks_per_us = limit.ticks_per_us();
  if (state.interval == 0) {
    state = {now_us, 0, interval, ticks_per_us};
    return;
  }
  if (now_us > state.last_us) {
    std::int64_t paid;  // a bucket may have been idle for years
    const bool all_paid =
        __builtin_mul_overflow(now_us - state.last_us, state.ticks_per_us, &paid) ||
        paid >= state.debt;
    state.debt = all_paid ? 0 : state.debt - paid;
    state.last_us = now_us;
  }
  if (state.interval != interval || state.ticks_per_us != ticks_per_us) {
    state.debt = Rescale(state.debt, state.interval, interval);
    state.interval = interval;
    state.ticks_per_us = ticks_per_us;
  }
}

// Divisions take longer than all else here, and many rates divide evenly.
std::int64_t DivideUpFast(std::int64_t value, std::int64_t by) {
  return by == 1 ? value : DivideUp(value, by);
}

void Describe(const Limit& limit, const TokenBucketState& bucket, LineStatus& status) {
  status.used = DivideUpFast(bucket.debt, bucket.interval);
  status.remaining = std::max<Units>(0, limit.burst() - status.used);
  status.reset_after = Micros(DivideUpFast(bucket.debt, bucket.ticks_per_us));
}

// What of the debt must be paid off before `cost` fits. REQUIRES: cost <= burst.
std::int64_t Excess(const Limit& limit, const TokenBucketState& bucket, Units cost) {
  return std::max<std::int64_t>(0, bucket.debt - (limit.burst() - cost) * bucket.interval);
}

// How `cost` stands to the bucket as it is now, but for what Describe tells.
void SetFit(const Limit& limit, const TokenBucketState& bucket, Units cost, LineStatus& status) {
  if (cost > limit.burst()) {
    status.fit = Fit::kNever;
    status.retry_after = kNever;
    return;
  }
  const std::int64_t excess = Excess(limit, bucket, cost);
  status.fit = excess == 0 ? Fit::kFits : Fit::kOver;
  status.retry_after = Micros(excess == 0 ? 0 : DivideUp(excess, bucket.ticks_per_us));
}

}  // namespace

LineStatus LookTokenBucket(const Limit& limit, const TokenBucketState& state, Units cost,
                           std::int64_t now_us) {
  TokenBucketState bucket = state;
  MakeCurrent(limit, bucket, now_us);
  LineStatus status;
  SetFit(limit, bucket, cost, status);
  Describe(limit, bucket, status);
  return status;
}

LineStatus ChargeTokenBucket(const Limit& limit, TokenBucketState& state, Units cost,
                             std::int64_t now_us, const LineStatus& look) {
  MakeCurrent(limit, state, now_us);
  const std::int64_t most =
      look.fit == Fit::kFits ? kMaxDebt : std::max(state.debt, limit.burst() * state.interval);
  const bool beyond = cost > (most - state.debt) / state.interval;
  state.debt = beyond ? most : state.debt + cost * state.interval;
  LineStatus status = look;
  Describe(limit, state, status);
  if (status.fit == Fit::kOver) {
    status.retry_after = Micros(DivideUp(Excess(limit, state, cost), state.ticks_per_us));
  }
  return status;
}

void TakeTokenBucket(const Limit& limit, TokenBucketState& state, Units cost, std::int64_t now_us,
                     LineStatus& status) {
  MakeCurrent(limit, state, now_us);
  SetFit(limit, state, cost, status);
  if (status.fit == Fit::kFits) {
    state.debt += cost * state.interval;  // within burst * interval: it fits
    return Describe(limit, state, status);
  }
  Describe(limit, state, status);
  if (limit.count() == Count::kAll) status = ChargeTokenBucket(limit, state, cost, now_us, status);
}

std::int64_t TokenBucketStamp(const TokenBucketState& state) {
  return state.last_us + state.debt / state.ticks_per_us;
}

void RefundTokenBucket(const Limit& limit, TokenBucketState& state, Units cost, std::int64_t now_us,
                       const std::int64_t* stamp) {
  if (state.interval == 0) return;
  MakeCurrent(limit, state, now_us);
  std::int64_t owed = state.debt;
  if (stamp != nullptr) {
    const std::int64_t left_us = std::max<std::int64_t>(0, *stamp - state.last_us);
    if (left_us <= owed / state.ticks_per_us) owed = left_us * state.ticks_per_us;
  }
  state.debt -= cost > owed / state.interval ? owed : cost * state.interval;
}

void HealTokenBucket(const Limit& limit, TokenBucketState& state, std::int64_t now_us) {
  if (state.interval == 0) return;
  const bool changed =
      state.interval != limit.interval() || state.ticks_per_us != limit.ticks_per_us();
  if (changed) MakeCurrent(limit, state, now_us);
}

std::int64_t TokenBucketIdleAt(const TokenBucketState& state) {
  if (state.interval == 0) return 0;
  return state.last_us + DivideUp(state.debt, state.ticks_per_us);
}

bool TokenBucketIdleBy(const TokenBucketState& state, std::int64_t now_us) {
  std::int64_t paid;
  return state.debt == 0 ||
         (now_us > state.last_us &&
          (__builtin_mul_overflow(now_us - state.last_us, state.ticks_per_us, &paid) ||
           paid >= state.debt));
}

std::int64_t TokenBucketFreeAt(const TokenBucketState& state, Units burst) {
  if (state.interval == 0) return 0;
  const std::int64_t room = (burst - 1) * state.interval;
  return state.debt <= room ? 0 : state.last_us + DivideUp(state.debt - room, state.ticks_per_us);
}

}  // namespace brim

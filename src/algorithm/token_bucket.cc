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

// The bucket as it stands now, in the limit's own ticks. Time that stepped back stands still.
TokenBucketState Current(const Limit& limit, const TokenBucketState& state, std::int64_t now_us) {
  const std::int64_t interval = limit.interval();
  const std::int64_t ticks_per_us = limit.ticks_per_us();
  if (state.interval == 0) return {now_us, 0, interval, ticks_per_us};
  now_us = std::max(now_us, state.last_us);
  const std::int64_t elapsed = now_us - state.last_us;
  std::int64_t debt = state.debt;
  // The comparison keeps the product below 2^53: a bucket may have been idle for years.
  debt = elapsed > debt / state.ticks_per_us
             ? 0
             : std::max<std::int64_t>(0, debt - elapsed * state.ticks_per_us);
  if (state.interval != interval || state.ticks_per_us != ticks_per_us) {
    debt = Rescale(debt, state.interval, interval);
  }
  return {now_us, debt, interval, ticks_per_us};
}

void Describe(const Limit& limit, const TokenBucketState& bucket, LineStatus& status) {
  const std::int64_t capacity = limit.burst() * bucket.interval;
  status.used = DivideUp(bucket.debt, bucket.interval);
  status.remaining = std::max<std::int64_t>(0, capacity - bucket.debt) / bucket.interval;
  status.reset_after = Micros(DivideUp(bucket.debt, bucket.ticks_per_us));
}

// Until the debt leaves room for `cost`. REQUIRES: cost <= burst.
Micros RetryAfter(const Limit& limit, const TokenBucketState& bucket, Units cost) {
  const std::int64_t room = (limit.burst() - cost) * bucket.interval;
  return Micros(DivideUp(std::max<std::int64_t>(0, bucket.debt - room), bucket.ticks_per_us));
}

}  // namespace

LineStatus LookTokenBucket(const Limit& limit, const TokenBucketState& state, Units cost,
                           std::int64_t now_us) {
  const TokenBucketState bucket = Current(limit, state, now_us);
  LineStatus status;
  Describe(limit, bucket, status);
  if (cost > limit.burst()) {
    status.fit = Fit::kNever;
    status.retry_after = kNever;
  } else {
    status.retry_after = RetryAfter(limit, bucket, cost);
    status.fit = status.retry_after == Micros{0} ? Fit::kFits : Fit::kOver;
  }
  return status;
}

LineStatus ChargeTokenBucket(const Limit& limit, TokenBucketState& state, Units cost,
                             std::int64_t now_us, const LineStatus& look) {
  state = Current(limit, state, now_us);
  const std::int64_t most =
      look.fit == Fit::kFits ? kMaxDebt : std::max(state.debt, limit.burst() * state.interval);
  const bool beyond = cost > (most - state.debt) / state.interval;
  state.debt = beyond ? most : state.debt + cost * state.interval;
  LineStatus status = look;
  Describe(limit, state, status);
  if (status.fit == Fit::kOver) status.retry_after = RetryAfter(limit, state, cost);
  return status;
}

std::int64_t TokenBucketStamp(const TokenBucketState& state) {
  return state.last_us + state.debt / state.ticks_per_us;
}

void RefundTokenBucket(const Limit& limit, TokenBucketState& state, Units cost, std::int64_t now_us,
                       const std::int64_t* stamp) {
  if (state.interval == 0) return;
  state = Current(limit, state, now_us);
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
  if (changed) state = Current(limit, state, now_us);
}

std::int64_t TokenBucketIdleAt(const TokenBucketState& state) {
  if (state.interval == 0) return 0;
  return state.last_us + DivideUp(state.debt, state.ticks_per_us);
}

std::int64_t TokenBucketFreeAt(const TokenBucketState& state, Units burst) {
  if (state.interval == 0) return 0;
  const std::int64_t room = (burst - 1) * state.interval;
  return state.debt <= room ? 0 : state.last_us + DivideUp(state.debt - room, state.ticks_per_us);
}

}  // namespace brim

// Token bucket, as GCRA counts it: a full bucket admits `burst` units at once, and then one unit
// every window / units. Constant memory. In any span t at most burst + t * units / window units are
// admitted.
//
// The bucket is kept as a debt that time pays off: 0 is a full bucket, burst * interval an empty
// one. Debt is in ticks, chosen so that both the price of a unit and the pay-off of a microsecond
// are whole: with window / units = interval / ticks_per_us as a reduced fraction, a unit costs
// `interval` ticks and a microsecond pays `ticks_per_us`. Nothing is lost to rounding. All numbers
// stay within 2^53 (Limit::Create sees to burst * interval), so that the Lua twin,
// store/lua/token_bucket.lua, computes the same in doubles: one commit changes both. Source: ITU-T
// I.371, the virtual scheduling algorithm; the debt is its TAT - now.
#pragma once

#include <cstdint>

#include <brim/limit.h>
#include <brim/store.h>

namespace brim {

// A plain value; all zero: nothing was ever charged. It remembers the interval that its debt is
// counted in, so that a change of the limit keeps what was used: the debt is rescaled, rounded up.
struct TokenBucketState {
  std::int64_t last_us = 0;  // the store's time of `debt`
  std::int64_t debt = 0;     // ticks
  std::int64_t interval = 0;
  std::int64_t ticks_per_us = 0;
};

// How `cost` stands to the limit now. Pure: changes nothing. REQUIRES: cost >= 1.
LineStatus LookTokenBucket(const Limit& limit, const TokenBucketState& state, Units cost,
                           std::int64_t now_us);

// Adds `cost` and tells how the key stands after it; fit is that of `look`. If that does not fit (a
// limited call that counts), the debt ends at one burst; if it is said to fit, it may go past it.
LineStatus ChargeTokenBucket(const Limit& limit, TokenBucketState& state, Units cost,
                             std::int64_t now_us, const LineStatus& look);

// Look, and then Charge if it fits or limited calls count, else Heal: the same in one step, which
// divides less. Fills `status`.
void TakeTokenBucket(const Limit& limit, TokenBucketState& state, Units cost, std::int64_t now_us,
                     LineStatus& status);

// When the bucket will be paid off as it stands after a charge, in the store's us: with it a refund
// knows how much of that charge is still owed.
std::int64_t TokenBucketStamp(const TokenBucketState& state);

// Gives back `cost`, at most what is owed; with the stamp of a charge, at most what of it is still
// owed.
void RefundTokenBucket(const Limit& limit, TokenBucketState& state, Units cost, std::int64_t now_us,
                       const std::int64_t* stamp);

// What a refused check does to a bucket whose limit has changed: stores the rescaled debt.
void HealTokenBucket(const Limit& limit, TokenBucketState& state, std::int64_t now_us);

// When the bucket is full again and may be forgotten, in the store's us.
std::int64_t TokenBucketIdleAt(const TokenBucketState& state);

// Whether that is so at `now_us`, without a division.
bool TokenBucketIdleBy(const TokenBucketState& state, std::int64_t now_us);

// From when on a unit fits into a bucket of `burst`, in the store's us.
std::int64_t TokenBucketFreeAt(const TokenBucketState& state, Units burst);

}  // namespace brim

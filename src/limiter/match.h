// The step "match" of request -> match -> check -> limiter -> store -> decision: which lines a
// request asks for, and under which keys.
#pragma once

#include <brim/limiter.h>
#include <brim/result.h>
#include <brim/store.h>
#include "base/limits.h"
#include "policy/key.h"

namespace brim {

// An unweighted log takes a cost of n as n entries; more than this in one call is refused.
inline constexpr Units kMaxLogCost = limits::kMaxLogCost;

// Fills `lines` (which must be empty) with one line a limit that is not off, shortest window first;
// equal windows keep their order. A peek (cost 0) asks for one unit; a charge or refund costs at
// least 1. kInvalid: empty subject, negative cost, an item's cost below 1, more than kMaxLines, two
// limits under one key, a scope beside a plain key, or a cost that an unweighted log cannot take.
// Pure.
Result<void> MatchLines(const KeyEncoder& keys, const CheckRequest& request, Op op,
                        CheckLines& lines);

}  // namespace brim

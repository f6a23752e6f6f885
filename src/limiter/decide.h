// The step "decision": from what the store found to what the caller is told. All of it is pure.
#pragma once

#include <span>

#include <brim/decision.h>
#include <brim/result.h>
#include <brim/store.h>

namespace brim {

// The answer of a store that answered. REQUIRES: `taken` is the answer to these lines.
Decision Decide(std::span<const Line> lines, const Taken& taken);

// The answer that no store was asked for, or gave: allowed (or limited), and the numbers of the
// shortest limit that is enforced (else the shortest) with nothing used.
Decision AnswerUnasked(std::span<const Line> lines, Outcome outcome, Reason reason);

// Limited: the request made no sense.
Decision AnswerInvalid();

StoreError ToStoreError(ErrorCode code);

}  // namespace brim

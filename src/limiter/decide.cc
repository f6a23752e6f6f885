#include "limiter/decide.h"

#include <algorithm>

namespace brim {
namespace {

// Fills the summary from the line that the answer describes.
void Describe(Decision& decision, std::size_t index) {
  const LineDecision& line = decision.lines[index];
  decision.line = static_cast<std::int32_t>(index);
  decision.limit = line.limit.capacity();
  decision.remaining = line.remaining;
  decision.window = line.limit.window();
  decision.reset_after = line.reset_after;
  if (decision.outcome == Outcome::kLimited) decision.retry_after = line.retry_after;
}

// Whether `a` is nearer to refusing than `b`: by remaining / cost. Products stay below 2^63, since
// remaining <= 10^9 and a line's cost <= 10^9 + 1.
bool Tighter(const LineDecision& a, const LineDecision& b) {
  return a.remaining * std::max<Units>(1, b.cost) < b.remaining * std::max<Units>(1, a.cost);
}

void DescribeAllowed(Decision& decision) {
  int tightest = -1;
  for (std::size_t i = 0; i < decision.lines.size(); ++i) {
    const LineDecision& line = decision.lines[i];
    if (line.limit.mode() != Mode::kEnforce) continue;
    if (tightest < 0 || Tighter(line, decision.lines[tightest])) tightest = static_cast<int>(i);
  }
  if (tightest < 0) {
    decision.reason = Reason::kShadow;  // shadow lines alone: the shortest is described
    tightest = 0;
  }
  Describe(decision, static_cast<std::size_t>(tightest));
}

}  // namespace

Decision Decide(std::span<const Line> lines, const Taken& taken) {
  Decision decision;
  if (lines.empty()) return decision;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const LineStatus& status = taken.lines[i];
    if (status.fit == Fit::kNotLookedAt) break;
    decision.lines.emplace_back(lines[i].limit, lines[i].cost, status.fit, status.remaining,
                                status.retry_after, status.reset_after);
  }
  if (taken.refused_line >= 0) {
    const auto refused = static_cast<std::size_t>(taken.refused_line);
    decision.outcome = Outcome::kLimited;
    decision.reason =
        decision.lines[refused].fit == Fit::kNever ? Reason::kCostExceedsLimit : Reason::kOverLimit;
    Describe(decision, refused);
  } else {
    decision.reason = Reason::kWithinLimit;
    DescribeAllowed(decision);
  }
  return decision;
}

Decision AnswerUnasked(std::span<const Line> lines, Outcome outcome, Reason reason) {
  Decision decision;
  decision.outcome = outcome;
  decision.reason = reason;
  if (lines.empty()) return decision;
  const Line* described = &lines.front();
  for (const Line& line : lines) {
    if (line.limit.mode() == Mode::kEnforce) {
      described = &line;
      break;
    }
  }
  decision.limit = described->limit.capacity();
  decision.window = described->limit.window();
  if (outcome == Outcome::kAllowed) decision.remaining = decision.limit;
  return decision;
}

Decision AnswerInvalid() {
  Decision decision;
  decision.outcome = Outcome::kLimited;
  decision.reason = Reason::kInvalidLimit;
  decision.retry_after = kNever;
  return decision;
}

StoreError ToStoreError(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnknown:
      return StoreError::kUnknown;
    case ErrorCode::kOutOfMemory:
      return StoreError::kOutOfMemory;
    case ErrorCode::kSetup:
    case ErrorCode::kInvalid:
      return StoreError::kSetup;
    case ErrorCode::kUnavailable:
      return StoreError::kUnavailable;
  }
  return StoreError::kUnavailable;
}

}  // namespace brim

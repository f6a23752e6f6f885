// A decision as HTTP tells it: status, headers, body. Every HTTP door answers through this file, so
// that they all keep one contract. Translates, and decides nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brim/decision.h>
#include <brim/limit.h>
#include "net/http.h"

namespace brim::door {

// The body of a refusal.
enum class DenyBody {
  kMessage,  // the whole decision: {"allowed": false, ..., "detail": "Rate limit exceeded", ...}
  kObject,   // {"detail": {"error": "rate limit exceeded", "retry_after": 12}}
};

// What the headers say of the limits of a check, made once for a route. Immutable.
class PolicyHeader {
 public:
  explicit PolicyHeader(std::span<const Limit> limits);

  // The value of RateLimit-Policy; empty without limits: `"minute";q=5;w=60, "day";q=100;w=86400`.
  std::string_view value() const { return value_; }
  // The name of the line at this place of a decision, quoted as in value().
  std::string_view name(std::size_t line) const { return names_[line]; }
  std::size_t size() const { return names_.size(); }

 private:
  // As decisions order their lines: shortest window first, none off.
  std::vector<std::string> names_;
  std::string value_;
};

// 200, 429 (limited), 503 (the store gave no answer, and the policy is to refuse) or 400 (invalid).
int DecisionStatus(const Decision& decision);

// Adds X-RateLimit-*, the RateLimit pair, and Retry-After or x-should-retry. `policy` is of the
// limits that were checked.
void AddDecisionHeaders(const Decision& decision, const PolicyHeader& policy,
                        net::HttpResponse& response);

// Appends the decision as JSON, the body of /v1/check.
void AppendDecisionBody(const Decision& decision, std::string& body);

// Turns the response into the refusal: status, headers, body. REQUIRES: !decision.allowed().
void AnswerRefusal(const Decision& decision, const PolicyHeader& policy, DenyBody form,
                   net::HttpResponse& response);

// Turns the response into a typed error: {"error": ..., "field": ..., "detail": ...}; `detail`
// repeats the error under the name that many clients look for. No field: the member is left out.
void AnswerError(int status, std::string_view error, std::string_view field,
                 net::HttpResponse& response);

}  // namespace brim::door

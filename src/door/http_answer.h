// A decision as HTTP tells it: status, headers, body. Every HTTP door answers through this file, so
// that they all keep one contract. Translates, and decides nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <brim/decision.h>
#include <brim/result.h>
#include "net/http.h"
#include "policy/policy_set.h"

namespace brim::door {

// How a door tells a decision. Small: callbacks carry it until the store has answered.
struct AnswerForm {
  HeaderFamilies headers = {};
  DenyForm deny = DenyForm::kMessage;
  std::int16_t deny_status = 429;  // nginx passes on no other refusal than 401 and 403
};

// 200, 429 (limited), 503 (the store gave no answer, and the policy is to refuse) or 400 (invalid).
int DecisionStatus(const Decision& decision);

// Appends the decision as JSON, the body of /v1/check; of a batch's item with its status.
void AppendDecisionBody(const Decision& decision, std::string& body,
                        std::optional<int> status = std::nullopt);

// Turns the response into the whole decision with this status, headers included.
void AnswerDecision(const Decision& decision, int status, HeaderFamilies families,
                    net::HttpResponse& response);

// Turns the response into the refusal: status, headers, body. REQUIRES: !decision.allowed().
void AnswerRefusal(const Decision& decision, const AnswerForm& form, net::HttpResponse& response);

// Appends {"error": ..., "field": ..., "detail": ...}; `detail` repeats the error under the name
// that many clients look for. No field: the member is left out. Likewise with a status.
void AppendErrorBody(std::string_view error, std::string_view field, std::string& body,
                     std::optional<int> status = std::nullopt);

// Turns the response into a typed error with that body. Headers that it has already stay.
void AnswerError(int status, std::string_view error, std::string_view field,
                 net::HttpResponse& response);

}  // namespace brim::door

#include "door/decision_api/decision_api.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "door/ask.h"
#include "door/decision_api/batch_answer.h"
#include "door/http_answer.h"
#include "door/identity.h"
#include "door/rate_headers.h"
#include "net/ascii.h"

namespace brim::door {
namespace {

constexpr std::string_view kAuth = "/v1/auth";

std::optional<Op> OpOfPath(std::string_view path) {
  if (path == "/v1/check") return Op::kTake;
  if (path == "/v1/charge") return Op::kCharge;
  if (path == "/v1/refund") return Op::kRefund;
  return std::nullopt;
}

bool IsForGateways(std::string_view path) {
  return path.starts_with(kAuth) && (path.size() == kAuth.size() || path[kAuth.size()] == '/');
}

net::HttpNext Refuse(int status, std::string_view error, std::string_view field,
                     net::HttpResponse& response) {
  AnswerError(status, error, field, response);
  return net::HttpNext::kSend;
}

// Or says nothing, or what `curl -d` says of every body.
bool MayBeJson(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; \t"));
  return type.empty() || net::EqualsIgnoringCase(type, "application/json") ||
         net::EqualsIgnoringCase(type, "application/x-www-form-urlencoded");
}

// A web page that a browser shows may send requests to whatever the browser can reach, but only
// with an Origin.
bool RefusesFormat(const net::HttpRequest& request, net::HttpResponse& response) {
  if (request.method != "POST") {
    response.AddHeader("Allow", "POST");
    AnswerError(405, "send a POST with the check as JSON", "method", response);
  } else if (request.Count("Origin") != 0) {
    AnswerError(403, "the decision API is for services, and answers no web page", "Origin",
                response);
  } else if (!MayBeJson(request.Value("Content-Type"))) {
    AnswerError(415, "send the body as `Content-Type: application/json`", "Content-Type", response);
  } else {
    return false;
  }
  return true;
}

// One a thread: bodies are read before the thread goes on to another request.
CheckBodyReader& BodyReader() {
  thread_local CheckBodyReader reader;
  return reader;
}

// With the limits of the tier, if the body has none of its own.
CheckRequest Complete(const CheckBody& body, const ServedPolicy& policy) {
  CheckRequest request = body.request;
  if (request.items.empty()) request.items = policy.FindTier(body.tier.value_or("")).items;
  return request;
}

// A look is no refusal, and charges and refunds have none; but without a store there is no answer.
int StatusOf(Op op, const Decision& decision) {
  const int status = DecisionStatus(decision);
  return status == 429 && op != Op::kTake ? 200 : status;
}

Op OpOf(Op op, const CheckRequest& request) {
  return op == Op::kTake && request.cost == 0 ? Op::kPeek : op;
}

// Of a refusal, as the gateway wants it; nullopt: it wants what there is not.
std::optional<std::int16_t> DenyStatus(std::string_view query) {
  const auto value = net::FindQueryValue(query, "deny_status");
  if (!value || *value == "429") return 429;
  if (*value == "403") return 403;
  return std::nullopt;
}

// Begins all of them; `done` is called exactly once for each.
void BeginEach(Limiter& limiter, Op op, std::span<const CheckRequest> requests,
               const Limiter::EachDone& done) {
  if (op == Op::kTake) return limiter.CheckBatchAsync(requests, done);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Begin(limiter, op, requests[i], [done, i](const Decision& decision) { done(i, decision); });
  }
}

void AddBrimHeaders(const Decision& decision, net::HttpResponse& response) {
  response.AddHeader("X-Brim-Decision", decision.allowed() ? "allowed" : "limited");
  response.AddHeader("X-Brim-Reason", ReasonName(decision.reason));
  if (decision.store_error != StoreError::kNone) {
    response.AddHeader("X-Brim-Degraded", StoreErrorName(decision.store_error));
  }
}

}  // namespace

// A batch under way.
struct DecisionApi::Batch {
  Batch(Op op, std::size_t checks, net::HttpResponse& response) : op(op), answer(checks, response) {
    requests.reserve(checks);
    places.reserve(checks);
  }

  const Op op;
  BatchAnswer answer;
  std::vector<CheckRequest> requests;  // those that were read without a mistake
  std::vector<std::size_t> places;     // of each in the batch
};

net::HttpNext DecisionApi::Handle(const net::HttpRequest& request, net::HttpResponse& response,
                                  net::HttpPause& pause) {
  const ServedPolicy& policy = *policies_.Get();
  if (!policy.api_token().Admits(request)) {
    AnswerUnauthorized(response);
    return net::HttpNext::kSend;
  }
  if (IsForGateways(request.path)) return AnswerGateway(policy, request, response, pause);
  if (const auto op = OpOfPath(request.path)) {
    if (RefusesFormat(request, response)) return net::HttpNext::kSend;
    return AnswerBody(policy, *op, request, response, pause);
  }
  return Refuse(404, "there is /v1/check, /v1/refund, /v1/charge and /v1/auth", "path", response);
}

net::HttpNext DecisionApi::AnswerBody(const ServedPolicy& policy, Op op,
                                      const net::HttpRequest& request, net::HttpResponse& response,
                                      net::HttpPause& pause) {
  CheckBodyReader& reader = BodyReader();
  if (auto read = reader.Read(request.body); !read) {
    return Refuse(400, read.error().message, read.error().field, response);
  }
  if (!reader.is_batch()) return AnswerOne(policy, op, reader.checks().front(), response, pause);
  if (reader.checks().size() > limits::kMaxBatchChecks) {
    return Refuse(413, "a batch has at most 1000 checks; send several", "body", response);
  }
  return AnswerBatch(policy, op, reader.checks(), response, pause);
}

net::HttpNext DecisionApi::AnswerOne(const ServedPolicy& policy, Op op,
                                     const Result<CheckBody>& check, net::HttpResponse& response,
                                     net::HttpPause& pause) {
  if (!check) return Refuse(400, check.error().message, check.error().field, response);
  const CheckRequest request = Complete(*check, policy);
  op = OpOf(op, request);
  const HeaderFamilies families = policy.set().headers;
  AddPolicyHeader(request.items, families, response);
  const net::HttpNext next =
      Ask(limiter_, op, request, pause, [this, op, families, &response](const Decision& decision) {
        Note(op, decision);
        AnswerDecision(decision, StatusOf(op, decision), families, response);
      });
  // What makes no sense is answered at once, and the limiter tells why when it is asked again.
  if (next == net::HttpNext::kSend && response.status == 400) {
    response.headers.clear();
    const auto valid = limiter_.Validate(request, op);
    if (!valid) AnswerError(400, valid.error().message, valid.error().field, response);
  }
  return next;
}

net::HttpNext DecisionApi::AnswerBatch(const ServedPolicy& policy, Op op,
                                       std::span<const Result<CheckBody>> checks,
                                       net::HttpResponse& response, net::HttpPause& pause) {
  if (checks.empty()) {
    response.AddHeader("Content-Type", "application/json");
    response.body = "[]";
    return net::HttpNext::kSend;
  }
  const auto batch = std::make_shared<Batch>(op, checks.size(), response);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i]) {
      batch->requests.push_back(Complete(*checks[i], policy));
      batch->places.push_back(i);
    } else {
      batch->answer.Add(i, checks[i].error());
    }
  }
  if (batch->requests.empty()) return net::HttpNext::kSend;
  return Await(pause, [&](Arrival arrive) {
    BeginEach(limiter_, op, batch->requests,
              [this, batch, arrive](std::size_t i, const Decision& decision) {
                if (AddAnswer(*batch, i, decision)) arrive();
              });
  });
}

// True: it was the last.
bool DecisionApi::AddAnswer(Batch& batch, std::size_t i, const Decision& decision) {
  const Op op = OpOf(batch.op, batch.requests[i]);
  Note(op, decision);
  const std::size_t place = batch.places[i];
  if (decision.reason == Reason::kInvalidLimit) {
    // What makes no sense is answered before the call returns: the request's views are still good.
    const auto valid = limiter_.Validate(batch.requests[i], op);
    if (!valid) return batch.answer.Add(place, valid.error());
  }
  return batch.answer.Add(place, decision, StatusOf(op, decision));
}

net::HttpNext DecisionApi::AnswerGateway(const ServedPolicy& policy,
                                         const net::HttpRequest& request,
                                         net::HttpResponse& response, net::HttpPause& pause) {
  const auto deny_status = DenyStatus(request.query);
  if (!deny_status) {
    return Refuse(400, "a refusal can have the status 429 or 403", "deny_status", response);
  }
  const auto identity = Identify(request, policy.set());
  if (!identity) {
    AnswerUnidentified(identity.error(), response);
    return net::HttpNext::kSend;
  }
  const PreparedCheck& prepared = policy.FindTier(identity->tier());
  const AnswerForm form{
      .headers = policy.set().headers, .deny = policy.set().deny, .deny_status = *deny_status};
  response.AddHeader("X-Brim-Policy", prepared.name);
  AddPolicyHeader(prepared.policy, form.headers, response);
  const CheckRequest check{.subject = identity->subject(), .items = prepared.items};
  return Ask(limiter_, Op::kTake, check, pause, [this, form, &response](const Decision& decision) {
    Note(Op::kTake, decision);
    AddBrimHeaders(decision, response);
    if (!decision.allowed()) return AnswerRefusal(decision, form, response);
    AddDecisionHeaders(decision, form.headers, response);
  });
}

void DecisionApi::Note(Op op, const Decision& decision) {
  if (op == Op::kTake) counters_.Add(decision);
  watch_.Saw(decision);
}

}  // namespace brim::door

#include "door/gateway/gateway.h"

#include "door/ask.h"
#include "door/identity.h"
#include "door/rate_headers.h"

namespace brim::door {
namespace {

// Writes the answer of an allowed request, or the error that keeps it from being checked.
bool FillBody(const ServedRoute& route, std::string_view query, net::HttpResponse& response) {
  const auto [fault, parameter] = route.respond.Fill(query, response.body);
  switch (fault) {
    case RespondTemplate::Fault::kNone:
      return true;
    case RespondTemplate::Fault::kMissing:
      AnswerError(422, "the query parameter is required", parameter, response);
      return false;
    case RespondTemplate::Fault::kBadEncoding:
      AnswerError(
          400, "the query parameter is not percent-encoded as it should be: % and two hex digits",
          parameter, response);
      return false;
  }
  return false;
}

void Answer(const Decision& decision, const AnswerForm& form, net::HttpResponse& response) {
  if (!decision.allowed()) return AnswerRefusal(decision, form, response);
  response.status = 200;
  response.AddHeader("Content-Type", "application/json");
  AddDecisionHeaders(decision, form.headers, response);
}

}  // namespace

net::HttpNext Gateway::Handle(const net::HttpRequest& request, net::HttpResponse& response,
                              net::HttpPause& pause) {
  const ServedPolicy& policy = *policies_.Get();
  const ServedRoute* const route = policy.FindRoute(request.path);
  if (route == nullptr) {
    AnswerError(404, "there is nothing at this path", "path", response);
    return net::HttpNext::kSend;
  }
  if (request.method != "GET" && request.method != "HEAD") {
    response.AddHeader("Allow", "GET, HEAD");
    AnswerError(405, "this route takes GET and HEAD", "method", response);
    return net::HttpNext::kSend;
  }
  const auto identity = Identify(request, policy.set());
  if (!identity) {
    AnswerUnidentified(identity.error(), response);
    return net::HttpNext::kSend;
  }
  if (!FillBody(*route, request.query, response)) return net::HttpNext::kSend;
  const AnswerForm form{.headers = policy.set().headers, .deny = route->route->deny};
  return Check(policy.FindCheck(*route, identity->tier()), identity->subject(), form, response,
               pause);
}

net::HttpNext Gateway::Check(const PreparedCheck& prepared, std::string_view subject,
                             const AnswerForm& form, net::HttpResponse& response,
                             net::HttpPause& pause) {
  AddPolicyHeader(prepared.policy, form.headers, response);
  const CheckRequest check{.subject = subject, .items = prepared.items};
  return Ask(limiter_, Op::kTake, check, pause, [this, form, &response](const Decision& decision) {
    counters_.Add(decision);
    watch_.Saw(decision);
    Answer(decision, form, response);
  });
}

}  // namespace brim::door

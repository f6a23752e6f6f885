#include "door/gateway/gateway.h"

#include <algorithm>
#include <utility>

#include "door/ask.h"

namespace brim::door {
namespace {

constexpr std::string_view kClientId = "X-Client-Id";
// Over a unix socket there is no address to tell clients apart by.
constexpr std::string_view kUnixPeer = "unix";

bool Matches(std::string_view route_path, std::string_view path) {
  return route_path.ends_with('/') ? path.starts_with(route_path) : path == route_path;
}

std::string_view ScopeOf(const Route& route) {
  const bool plain = std::any_of(route.limits.begin(), route.limits.end(),
                                 [](const Limit& limit) { return limit.key() == KeyForm::kPlain; });
  return plain ? std::string_view() : route.name;
}

// Writes the answer of an allowed request, or the error that keeps it from being checked.
bool FillBody(const Route& route, std::string_view query, net::HttpResponse& response) {
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

}  // namespace

Result<std::string_view> Identify(const net::HttpRequest& request) {
  if (request.Count(kClientId) > 1) {
    return Error{ErrorCode::kInvalid, "the header is there more than once; send it once",
                 std::string(kClientId)};
  }
  if (const std::string_view id = request.Value(kClientId); !id.empty()) return id;
  if (request.peer_address.empty() || request.peer_address == kUnixPeer) {
    return std::string_view("anonymous");
  }
  return request.peer_address;
}

Gateway::Gateway(std::vector<Route> routes, Limiter& limiter, DecisionCounters& counters,
                 StoreWatch& watch)
    : limiter_(limiter), counters_(counters), watch_(watch) {
  routes_.reserve(routes.size());  // scopes are views of what stands in place
  std::sort(routes.begin(), routes.end(),
            [](const Route& a, const Route& b) { return a.path.size() > b.path.size(); });
  for (Route& route : routes) {
    PolicyHeader policy(route.limits);
    Served& served = routes_.emplace_back(Served{std::move(route), {}, std::move(policy)});
    served.scope = ScopeOf(served.route);
  }
}

net::HttpNext Gateway::Handle(const net::HttpRequest& request, net::HttpResponse& response,
                              net::HttpPause& pause) {
  const Served* const served = Find(request.path);
  if (served == nullptr) {
    AnswerError(404, "there is nothing at this path", "path", response);
    return net::HttpNext::kSend;
  }
  if (request.method != "GET" && request.method != "HEAD") {
    response.AddHeader("Allow", "GET, HEAD");
    AnswerError(405, "this route takes GET and HEAD", "method", response);
    return net::HttpNext::kSend;
  }
  const Result<std::string_view> subject = Identify(request);
  if (!subject) {
    AnswerError(400, subject.error().message, subject.error().field, response);
    return net::HttpNext::kSend;
  }
  if (!FillBody(served->route, request.query, response)) return net::HttpNext::kSend;
  return Check(*served, *subject, response, pause);
}

const Gateway::Served* Gateway::Find(std::string_view path) const {
  const auto found = std::find_if(routes_.begin(), routes_.end(), [&](const Served& served) {
    return Matches(served.route.path, path);
  });
  return found == routes_.end() ? nullptr : &*found;
}

net::HttpNext Gateway::Check(const Served& served, std::string_view subject,
                             net::HttpResponse& response, net::HttpPause& pause) {
  const CheckRequest check{
      .subject = subject, .limits = served.route.limits, .scope = served.scope};
  return Ask(limiter_, check, pause, [this, &served, &response](const Decision& decision) {
    counters_.Add(decision.reason);
    watch_.Saw(decision);
    Answer(served, decision, response);
  });
}

void Gateway::Answer(const Served& served, const Decision& decision, net::HttpResponse& response) {
  if (!decision.allowed()) {
    return AnswerRefusal(decision, served.policy, served.route.deny, response);
  }
  response.status = 200;
  response.AddHeader("Content-Type", "application/json");
  AddDecisionHeaders(decision, served.policy, response);
}

}  // namespace brim::door

#include "door/admin/admin.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include <brim/version.h>
#include "base/json_writer.h"
#include "door/admin/limits_query.h"
#include "door/ask.h"
#include "door/bearer_token.h"
#include "door/http_answer.h"
#include "limiter/decide.h"

namespace brim::door {
namespace {

void AnswerText(int status, std::string_view type, std::string text, net::HttpResponse& response) {
  response.status = status;
  response.AddHeader("Content-Type", type);
  response.body = std::move(text);
}

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kPrometheus = "text/plain; version=0.0.4; charset=utf-8";

void AppendFamily(std::string_view name, std::string_view type, std::string_view help,
                  std::string& out) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n");
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

// REQUIRES: `labels` is empty or `{name="value"}`, with values of our own.
void AppendSample(std::string_view name, std::string_view labels, std::uint64_t value,
                  std::string& out) {
  out.append(name).append(labels).append(" ").append(std::to_string(value)).append("\n");
}

void AnswerReady(const Decision& decision, bool verbose, net::HttpResponse& response) {
  const bool is_off = decision.reason == Reason::kKillSwitch;
  const bool is_ready = is_off || decision.store_error == StoreError::kNone;
  const std::string store(is_off     ? "not asked"
                          : is_ready ? "ok"
                                     : StoreErrorName(decision.store_error));
  std::string text = is_off     ? "ready: limiting is switched off by the kill switch\n"
                     : is_ready ? "ready\n"
                                : "not ready: the store gives no answer (" + store +
                                      "); checks follow the failure policy\n";
  if (verbose) text += "store: " + store + "\nkill switch: " + (is_off ? "on" : "off") + "\n";
  AnswerText(is_ready ? 200 : 503, kPlain, std::move(text), response);
}

// Whether the method is one of "GET, HEAD".
bool IsOneOf(std::string_view method, std::string_view methods) {
  while (!methods.empty()) {  // stops: each turn drops one
    const std::size_t end = methods.find(", ");
    if (methods.substr(0, end) == method) return true;
    methods = end == std::string_view::npos ? std::string_view() : methods.substr(end + 2);
  }
  return false;
}

void AnswerReset(const Result<std::int64_t>& removed, net::HttpResponse& response) {
  if (!removed && removed.error().code == ErrorCode::kInvalid) {
    return AnswerError(400, removed.error().message, removed.error().field, response);
  }
  response.status = removed ? 200 : 503;
  response.AddHeader("Content-Type", "application/json");
  JsonWriter json(response.body);
  json.BeginObject();
  if (removed) {
    json.Key("removed").Int(*removed);
  } else {
    json.Key("error").String(removed.error().message);
    json.Key("store_error").String(StoreErrorName(ToStoreError(removed.error().code)));
  }
  json.EndObject();
}

}  // namespace

const Admin::Page Admin::kPages[] = {
    {"/healthz", "GET, HEAD", false, &Admin::Healthz},
    {"/readyz", "GET, HEAD", false, &Admin::Readyz},
    {"/metrics", "GET, HEAD", false, &Admin::Metrics},
    {"/v1/limits/", "GET, DELETE", true, &Admin::Limits},
};

const Admin::Page* Admin::FindPage(std::string_view path) {
  const auto page = std::ranges::find_if(kPages, [&](const Page& candidate) {
    return candidate.path.ends_with('/') ? path.starts_with(candidate.path)
                                         : path == candidate.path;
  });
  return page == std::end(kPages) ? nullptr : page;
}

net::HttpNext Admin::Handle(const net::HttpRequest& request, net::HttpResponse& response,
                            net::HttpPause& pause) {
  const Page* const page = FindPage(request.path);
  if (page == nullptr) {
    AnswerError(404, "there is /healthz, /readyz, /metrics and /v1/limits/SUBJECT", "path",
                response);
    return net::HttpNext::kSend;
  }
  if (Refuses(*page, request, response)) return net::HttpNext::kSend;
  return (this->*page->answer)(request, response, pause);
}

bool Admin::Refuses(const Page& page, const net::HttpRequest& request,
                    net::HttpResponse& response) const {
  const BearerToken& token = policies_.Get()->admin_token();
  if (page.needs_token && !token.is_set()) {
    AnswerError(403, "this needs a token; name its file as admin.token_file", "Authorization",
                response);
  } else if (page.needs_token && !token.Admits(request)) {
    AnswerUnauthorized(response);
  } else if (!IsOneOf(request.method, page.methods)) {
    response.AddHeader("Allow", page.methods);
    AnswerError(405, "this page takes " + std::string(page.methods), "method", response);
  } else {
    return false;
  }
  return true;
}

net::HttpNext Admin::Healthz(const net::HttpRequest& /*request*/, net::HttpResponse& response,
                             net::HttpPause& /*pause*/) {
  AnswerText(200, kPlain, "ok\n", response);
  return net::HttpNext::kSend;
}

net::HttpNext Admin::Readyz(const net::HttpRequest& request, net::HttpResponse& response,
                            net::HttpPause& pause) {
  const bool verbose = net::FindQueryValue(request.query, "verbose").has_value();
  return Ask(limiter_, Op::kPeek, StoreProbe(), pause,
             [this, verbose, &response](const Decision& decision) {
               watch_.Saw(decision);
               AnswerReady(decision, verbose, response);
             });
}

net::HttpNext Admin::Metrics(const net::HttpRequest& /*request*/, net::HttpResponse& response,
                             net::HttpPause& /*pause*/) {
  std::string out;
  AppendFamily("brim_build_info", "gauge", "Always 1; the labels tell what runs.", out);
  AppendSample("brim_build_info", "{version=\"" BRIM_VERSION "\"}", 1, out);
  AppendFamily("brim_decisions_total", "counter", "Decisions by reason.", out);
  for (std::size_t i = 0; i < DecisionCounters::kReasons; ++i) {
    const auto reason = static_cast<Reason>(i);
    AppendSample("brim_decisions_total", "{reason=\"" + std::string(ReasonName(reason)) + "\"}",
                 counters_.Sum(reason), out);
  }
  AppendFamily("brim_kill_switch", "gauge", "1 while limiting is switched off.", out);
  AppendSample("brim_kill_switch", "", limiter_.kill_switch() ? 1 : 0, out);
  AppendFamily("brim_store_up", "gauge", "1 if the store answered when it was last asked.", out);
  AppendSample("brim_store_up", "", watch_.error() == StoreError::kNone ? 1 : 0, out);
  AnswerText(200, kPrometheus, std::move(out), response);
  return net::HttpNext::kSend;
}

net::HttpNext Admin::Limits(const net::HttpRequest& request, net::HttpResponse& response,
                            net::HttpPause& pause) {
  const ServedPolicy& policy = *policies_.Get();
  const std::string_view subject = request.path.substr(FindPage(request.path)->path.size());
  const auto query = LimitsQuery::Parse(subject, request.query, policy);
  const auto valid = query ? limiter_.Validate(query->request()) : query.error();
  if (!valid) {
    AnswerError(400, valid.error().message, valid.error().field, response);
    return net::HttpNext::kSend;
  }
  if (request.method == "DELETE") {
    return Await(pause, [&](Arrival arrive) {
      limiter_.ResetAsync(query->request(), [arrive, &response](Result<std::int64_t> removed) {
        AnswerReset(removed, response);
        arrive();
      });
    });
  }
  const HeaderFamilies families = policy.set().headers;
  return Ask(limiter_, Op::kPeek, query->request(), pause,
             [this, families, &response](const Decision& decision) {
               watch_.Saw(decision);
               const int status = DecisionStatus(decision);
               AnswerDecision(decision, status == 429 ? 200 : status, families, response);
             });
}

}  // namespace brim::door

#include "door/admin/admin.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "door/admin/limits_query.h"
#include "door/admin/metrics.h"
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

// The one member of the body, which is read by `read`: {"on": true}.
template <typename Read>
Result<void> ReadOnly(std::string_view body, std::string_view member, Read read) {
  JsonReader json;
  json.Begin(body);
  bool found = false;
  if (json.Peek() == JsonReader::Type::kObject) {
    std::string_view name;
    for (json.BeginObject(); json.NextMember(name);) {
      if (name != member || found || !read(json)) {
        found = false;
        break;
      }
      found = true;
    }
  }
  if (found && json.End()) return {};
  return Error{ErrorCode::kInvalid, "the body must be a JSON object with this member alone",
               std::string(member)};
}

Result<bool> ReadSwitch(std::string_view body) {
  bool on = false;
  const auto valid = ReadOnly(body, "on", [&on](JsonReader& json) { return json.Bool(on); });
  if (!valid) return valid.error();
  return on;
}

Result<Mode> ReadMode(std::string_view body) {
  std::optional<Mode> mode;
  const auto valid = ReadOnly(body, "mode", [&mode](JsonReader& json) {
    std::string_view name;
    if (json.String(name)) mode = ParseMode(name);
    return mode.has_value();
  });
  if (valid) return *mode;
  Error error = valid.error();
  error.message += ": enforce, shadow or off";
  return error;
}

void AnswerMode(Mode mode, net::HttpResponse& response) {
  response.AddHeader("Content-Type", "application/json");
  JsonWriter(response.body).BeginObject().Key("mode").String(ModeName(mode)).EndObject();
}

void AnswerChange(const PolicyChange& change, net::HttpResponse& response) {
  response.status = change.ok ? 200 : 400;
  response.AddHeader("Content-Type", "application/json");
  JsonWriter json(response.body);
  json.BeginObject().Key("ok").Bool(change.ok).Key("needs_restart").BeginArray();
  for (const std::string& name : change.needs_restart) json.String(name);
  json.EndArray();
  response.body += ", \"issues\": " + IssuesAsJson(change.issues) + "}";
}

}  // namespace

const Admin::Page Admin::kPages[] = {
    {"/healthz", "GET, HEAD", false, &Admin::Healthz},
    {"/readyz", "GET, HEAD", false, &Admin::Readyz},
    {"/metrics", "GET, HEAD", false, &Admin::Metrics},
    {"/v1/limits/", "GET, DELETE", true, &Admin::Limits},
    {"/v1/kill-switch", "GET, PUT", true, &Admin::KillSwitch},
    {"/v1/modes/", "GET, PUT", true, &Admin::Modes},
    {"/v1/reload", "POST", true, &Admin::Reload},
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
    AnswerError(404,
                "there is /healthz, /readyz, /metrics, /v1/limits/SUBJECT, /v1/kill-switch, "
                "/v1/modes/NAME and /v1/reload",
                "path", response);
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
  if (draining_) {
    AnswerText(503, kPlain, "not ready: brim is about to end\n", response);
    return net::HttpNext::kSend;
  }
  const bool verbose = net::FindQueryValue(request.query, "verbose").has_value();
  return Ask(limiter_, Op::kPeek, StoreProbe(), pause,
             [this, verbose, &response](const Decision& decision) {
               watch_.Saw(decision);
               AnswerReady(decision, verbose, response);
             });
}

net::HttpNext Admin::Metrics(const net::HttpRequest& /*request*/, net::HttpResponse& response,
                             net::HttpPause& /*pause*/) {
  const MetricsSource source{.decisions = counters_.Sum(),
                             .reloads = control_.status(),
                             .kill_switch = limiter_.kill_switch(),
                             .store_up = watch_.error() == StoreError::kNone,
                             .draining = draining_};
  AnswerText(200, kPrometheus, MetricsText(source, policies_.Get()->set()), response);
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

net::HttpNext Admin::KillSwitch(const net::HttpRequest& request, net::HttpResponse& response,
                                net::HttpPause& /*pause*/) {
  if (request.method == "PUT") {
    const auto on = ReadSwitch(request.body);
    if (!on) {
      AnswerError(400, on.error().message, on.error().field, response);
      return net::HttpNext::kSend;
    }
    if (*on != limiter_.kill_switch()) {
      Log(*on ? LogLevel::kWarning : LogLevel::kInfo, *on ? "kill_switch_on" : "kill_switch_off",
          {{"reason", "told so"}});
    }
    limiter_.SetKillSwitch(*on);
  }
  response.AddHeader("Content-Type", "application/json");
  JsonWriter(response.body).BeginObject().Key("on").Bool(limiter_.kill_switch()).EndObject();
  return net::HttpNext::kSend;
}

net::HttpNext Admin::Modes(const net::HttpRequest& request, net::HttpResponse& response,
                           net::HttpPause& pause) {
  const std::string_view name = request.path.substr(FindPage(request.path)->path.size());
  const auto mode = control_.ModeOf(name);
  if (!mode) {
    AnswerError(404, "there is no tier or route of that name", "name", response);
    return net::HttpNext::kSend;
  }
  if (request.method == "GET") {
    AnswerMode(*mode, response);
    return net::HttpNext::kSend;
  }
  const auto wanted = ReadMode(request.body);
  if (!wanted) {
    AnswerError(400, wanted.error().message, wanted.error().field, response);
    return net::HttpNext::kSend;
  }
  return Await(pause, [&](Arrival arrive) {
    control_.RequestMode(std::string(name), *wanted,
                         [arrive, mode = *wanted, &response](const PolicyChange& change) {
                           if (change.ok) {
                             AnswerMode(mode, response);
                           } else {
                             AnswerError(503, change.issues.front().message, "", response);
                           }
                           arrive();
                         });
  });
}

net::HttpNext Admin::Reload(const net::HttpRequest& /*request*/, net::HttpResponse& response,
                            net::HttpPause& pause) {
  return Await(pause, [&](Arrival arrive) {
    control_.RequestReload([arrive, &response](const PolicyChange& change) {
      AnswerChange(change, response);
      arrive();
    });
  });
}

}  // namespace brim::door

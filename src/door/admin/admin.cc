#include "door/admin/admin.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <brim/version.h>
#include "door/ask.h"
#include "door/http_answer.h"

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

}  // namespace

net::HttpNext Admin::Handle(const net::HttpRequest& request, net::HttpResponse& response,
                            net::HttpPause& pause) {
  if (request.method != "GET" && request.method != "HEAD") {
    response.AddHeader("Allow", "GET, HEAD");
    AnswerError(405, "the admin pages take GET and HEAD", "method", response);
  } else if (request.path == "/healthz") {
    AnswerText(200, kPlain, "ok\n", response);
  } else if (request.path == "/readyz") {
    return Ready(response, pause);
  } else if (request.path == "/metrics") {
    AnswerText(200, kPrometheus, Metrics(), response);
  } else {
    AnswerError(404, "there is /healthz, /readyz and /metrics", "path", response);
  }
  return net::HttpNext::kSend;
}

net::HttpNext Admin::Ready(net::HttpResponse& response, net::HttpPause& pause) {
  return Ask(limiter_, StoreProbe(), pause, [this, &response](const Decision& decision) {
    watch_.Saw(decision);
    if (decision.reason == Reason::kKillSwitch) {
      AnswerText(200, kPlain, "ready: limiting is switched off by the kill switch\n", response);
    } else if (decision.store_error == StoreError::kNone) {
      AnswerText(200, kPlain, "ready\n", response);
    } else {
      AnswerText(503, kPlain,
                 "not ready: the store gives no answer (" +
                     std::string(StoreErrorName(decision.store_error)) +
                     "); checks follow the failure policy\n",
                 response);
    }
  });
}

std::string Admin::Metrics() const {
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
  return out;
}

}  // namespace brim::door

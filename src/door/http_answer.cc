#include "door/http_answer.h"

#include <cstddef>
#include <cstdint>

#include "base/json_writer.h"
#include "door/rate_headers.h"

namespace brim::door {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kProblemJson = "application/problem+json";
constexpr std::string_view kQuotaExceeded =
    "https://iana.org/assignments/http-problem-types#quota-exceeded";
constexpr std::string_view kQuotaExceededTitle =
    "Request cannot be satisfied as assigned quota has been exceeded";
constexpr std::string_view kReducedCapacity =
    "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
constexpr std::string_view kReducedCapacityTitle =
    "Request cannot be satisfied due to temporary server capacity constraints";

constexpr std::string_view kExceeded = "Rate limit exceeded";
constexpr std::string_view kUnavailable = "Rate limiter unavailable";
constexpr std::string_view kInvalid = "Invalid rate-limit request";

std::int64_t Millis(Micros duration) { return RetryAfterMillis(duration).value_or(0); }

std::string_view Detail(const Decision& decision) {
  if (decision.reason == Reason::kFailClosed) return kUnavailable;
  if (decision.reason == Reason::kInvalidLimit) return kInvalid;
  return kExceeded;
}

void WriteWindow(Micros window, JsonWriter& json) {
  if (window == Micros{0}) {  // no line was looked at
    json.Key("window").Null().Key("window_seconds").Null();
    return;
  }
  json.Key("window").String(WindowName(window));
  json.Key("window_seconds").Thousandths(window.count() / 1000);
}

void WriteOptional(std::string_view name, std::optional<std::int64_t> value, JsonWriter& json) {
  json.Key(name);
  if (value) {
    json.Int(*value);
  } else {
    json.Null();
  }
}

void WriteLine(const LineDecision& line, JsonWriter& json) {
  json.BeginObject();
  json.Key("limit").Int(line.limit.capacity());
  WriteWindow(line.limit.window(), json);
  json.Key("algorithm").String(AlgorithmName(line.limit.algorithm()));
  if (line.limit.algorithm() == Algorithm::kTokenBucket) {
    json.Key("units").Int(line.limit.units()).Key("burst").Int(line.limit.burst());
  }
  json.Key("remaining").Int(line.remaining);
  WriteOptional("retry_after_ms", RetryAfterMillis(line.retry_after), json);
  json.Key("reset_after_ms").Int(Millis(line.reset_after));
  if (line.would_deny()) json.Key("would_deny").Bool(true);
  json.EndObject();
}

void WriteStoreError(const Decision& decision, JsonWriter& json) {
  if (decision.store_error == StoreError::kNone) return;
  json.Key("store_error").String(StoreErrorName(decision.store_error));
}

void AppendObjectBody(const Decision& decision, std::string& body) {
  JsonWriter json(body);
  json.BeginObject().Key("detail").BeginObject();
  json.Key("error").String(decision.reason == Reason::kFailClosed ? "rate limiter unavailable"
                                                                  : "rate limit exceeded");
  WriteOptional("retry_after", RetryAfterSeconds(decision.retry_after), json);
  json.EndObject().EndObject();
}

// The problem types that the draft on rate-limit headers registers, beside what all bodies tell.
void AppendProblemBody(const Decision& decision, int status, std::string& body) {
  const bool is_over = decision.reason != Reason::kFailClosed;
  JsonWriter json(body);
  json.BeginObject();
  json.Key("type").String(is_over ? kQuotaExceeded : kReducedCapacity);
  json.Key("title").String(is_over ? kQuotaExceededTitle : kReducedCapacityTitle);
  json.Key("status").Int(status);
  json.Key("detail").String(Detail(decision));
  json.Key("reason").String(ReasonName(decision.reason));
  WriteStoreError(decision, json);
  WriteOptional("retry_after", RetryAfterSeconds(decision.retry_after), json);
  WriteOptional("retry_after_ms", RetryAfterMillis(decision.retry_after), json);
  json.Key("violated-policies").BeginArray();
  if (decision.line >= 0) json.String(LineName(decision, static_cast<std::size_t>(decision.line)));
  json.EndArray().EndObject();
}

}  // namespace

int DecisionStatus(const Decision& decision) {
  if (decision.allowed()) return 200;
  if (decision.reason == Reason::kFailClosed) return 503;
  if (decision.reason == Reason::kInvalidLimit) return 400;
  return 429;
}

void AppendDecisionBody(const Decision& decision, std::string& body, std::optional<int> status) {
  JsonWriter json(body);
  json.BeginObject();
  if (status) json.Key("status").Int(*status);
  json.Key("allowed").Bool(decision.allowed());
  json.Key("reason").String(ReasonName(decision.reason));
  WriteStoreError(decision, json);
  if (!decision.allowed()) json.Key("detail").String(Detail(decision));
  json.Key("limit").Int(decision.limit);
  json.Key("remaining").Int(decision.remaining);
  WriteWindow(decision.window, json);
  WriteOptional("retry_after", RetryAfterSeconds(decision.retry_after), json);
  WriteOptional("retry_after_ms", RetryAfterMillis(decision.retry_after), json);
  json.Key("reset_after_ms").Int(Millis(decision.reset_after));
  json.Key("limits").BeginArray();
  for (const LineDecision& line : decision.lines) WriteLine(line, json);
  json.EndArray().EndObject();
}

void AnswerDecision(const Decision& decision, int status, HeaderFamilies families,
                    net::HttpResponse& response) {
  response.status = status;
  response.AddHeader("Content-Type", kJson);
  AddDecisionHeaders(decision, families, response);
  AppendDecisionBody(decision, response.body);
}

void AnswerRefusal(const Decision& decision, const AnswerForm& form, net::HttpResponse& response) {
  const int status = DecisionStatus(decision);
  response.status = status == 429 ? form.deny_status : status;
  response.AddHeader("Content-Type", form.deny == DenyForm::kProblem ? kProblemJson : kJson);
  AddDecisionHeaders(decision, form.headers, response);
  response.body.clear();
  switch (form.deny) {
    case DenyForm::kMessage:
      return AppendDecisionBody(decision, response.body);
    case DenyForm::kObject:
      return AppendObjectBody(decision, response.body);
    case DenyForm::kProblem:
      return AppendProblemBody(decision, response.status, response.body);
  }
}

void AppendErrorBody(std::string_view error, std::string_view field, std::string& body,
                     std::optional<int> status) {
  JsonWriter json(body);
  json.BeginObject();
  if (status) json.Key("status").Int(*status);
  json.Key("error").String(error);
  if (!field.empty()) json.Key("field").String(field);
  json.Key("detail").String(error).EndObject();
}

void AnswerError(int status, std::string_view error, std::string_view field,
                 net::HttpResponse& response) {
  response.status = status;
  response.AddHeader("Content-Type", kJson);
  response.body.clear();
  AppendErrorBody(error, field, response.body);
}

}  // namespace brim::door

#include "door/http_answer.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/json_writer.h"
#include "base/rounding.h"
#include "base/text.h"

namespace brim::door {
namespace {

// The IETF draft on rate-limit headers is moving: its names stand here alone.
constexpr std::string_view kPolicyField = "RateLimit-Policy";
constexpr std::string_view kStateField = "RateLimit";
constexpr std::string_view kQuota = ";q=";
constexpr std::string_view kWindow = ";w=";
constexpr std::string_view kRemaining = ";r=";
constexpr std::string_view kTimeToFit = ";t=";

constexpr std::string_view kExceeded = "Rate limit exceeded";
constexpr std::string_view kUnavailable = "Rate limiter unavailable";
constexpr std::string_view kInvalid = "Invalid rate-limit request";

std::int64_t SecondsUp(Micros duration) { return RetryAfterSeconds(duration).value_or(0); }

std::int64_t Millis(Micros duration) { return RetryAfterMillis(duration).value_or(0); }

void AppendParameter(std::string_view name, std::int64_t value, std::string& out) {
  out += name;
  out += Decimal(value).view();
}

bool CanEverFit(const Decision& decision) { return decision.retry_after != kNever; }

// Whether the line's wait is what keeps this check out: shadow lines refuse nobody.
bool Refuses(const LineDecision& line) {
  return line.limit.mode() == Mode::kEnforce && line.fit == Fit::kOver;
}

// Straight into the header block: one value for all lines, without a string between. Nothing in it
// comes from a client.
void AddStateHeader(const Decision& decision, const PolicyHeader& policy, std::string& headers) {
  const std::size_t known = std::min(decision.lines.size(), policy.size());
  if (known == 0) return;
  headers += kStateField;
  for (std::size_t i = 0; i < known; ++i) {
    const LineDecision& line = decision.lines[i];
    headers += i == 0 ? ": " : ", ";
    headers += policy.name(i);
    AppendParameter(kRemaining, line.remaining, headers);
    if (!decision.allowed() && Refuses(line)) {
      AppendParameter(kTimeToFit, SecondsUp(line.retry_after), headers);
    }
  }
  headers += "\r\n";
}

void AddRetryHeaders(const Decision& decision, net::HttpResponse& response) {
  if (!CanEverFit(decision)) return response.AddHeader("x-should-retry", "false");
  response.AddHeader("Retry-After", SecondsUp(decision.retry_after));
  response.AddHeader("retry-after-ms", Millis(decision.retry_after));
}

// When the cost fits, or when all is fresh again.
std::int64_t ResetSeconds(const Decision& decision) {
  const bool waits = !decision.allowed() && CanEverFit(decision);
  return SecondsUp(waits ? decision.retry_after : decision.reset_after);
}

// In which its quota comes back: the window, or for a token bucket the time to refill it whole.
Micros RefillTime(const Limit& limit) {
  if (limit.algorithm() != Algorithm::kTokenBucket) return limit.window();
  return Micros(DivideUp(limit.burst() * limit.interval(), limit.ticks_per_us()));
}

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

void AppendObjectBody(const Decision& decision, std::string& body) {
  JsonWriter json(body);
  json.BeginObject().Key("detail").BeginObject();
  json.Key("error").String(decision.reason == Reason::kFailClosed ? "rate limiter unavailable"
                                                                  : "rate limit exceeded");
  WriteOptional("retry_after", RetryAfterSeconds(decision.retry_after), json);
  json.EndObject().EndObject();
}

}  // namespace

PolicyHeader::PolicyHeader(std::span<const Limit> limits) {
  std::vector<Limit> lines;
  for (const Limit& limit : limits) {
    if (limit.mode() == Mode::kOff) continue;
    const auto behind =
        std::upper_bound(lines.begin(), lines.end(), limit,
                         [](const Limit& a, const Limit& b) { return a.window() < b.window(); });
    lines.insert(behind, limit);
  }
  std::size_t same = 0;  // lines of this window so far: their names must differ
  for (std::size_t i = 0; i < lines.size(); ++i) {
    same = i != 0 && lines[i].window() == lines[i - 1].window() ? same + 1 : 1;
    std::string name = '"' + WindowName(lines[i].window());
    if (same > 1) name += '-' + std::to_string(same);
    names_.push_back(name + '"');
    if (i != 0) value_ += ", ";
    value_ += names_.back();
    AppendParameter(kQuota, lines[i].capacity(), value_);
    AppendParameter(kWindow, SecondsUp(RefillTime(lines[i])), value_);
  }
}

int DecisionStatus(const Decision& decision) {
  if (decision.allowed()) return 200;
  if (decision.reason == Reason::kFailClosed) return 503;
  if (decision.reason == Reason::kInvalidLimit) return 400;
  return 429;
}

void AddDecisionHeaders(const Decision& decision, const PolicyHeader& policy,
                        net::HttpResponse& response) {
  if (decision.window > Micros{0}) {
    response.AddHeader("X-RateLimit-Limit", decision.limit);
    response.AddHeader("X-RateLimit-Remaining", decision.allowed() ? decision.remaining : 0);
    response.AddHeader("X-RateLimit-Window", WindowName(decision.window));
    response.AddHeader("X-RateLimit-Reset", ResetSeconds(decision));
  }
  if (!policy.value().empty()) response.AddHeader(kPolicyField, policy.value());
  AddStateHeader(decision, policy, response.headers);
  if (!decision.allowed()) AddRetryHeaders(decision, response);
}

void AppendDecisionBody(const Decision& decision, std::string& body) {
  JsonWriter json(body);
  json.BeginObject();
  json.Key("allowed").Bool(decision.allowed());
  json.Key("reason").String(ReasonName(decision.reason));
  if (decision.store_error != StoreError::kNone) {
    json.Key("store_error").String(StoreErrorName(decision.store_error));
  }
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

void AnswerRefusal(const Decision& decision, const PolicyHeader& policy, DenyBody form,
                   net::HttpResponse& response) {
  response.status = DecisionStatus(decision);
  response.AddHeader("Content-Type", "application/json");
  AddDecisionHeaders(decision, policy, response);
  response.body.clear();
  if (form == DenyBody::kObject) {
    AppendObjectBody(decision, response.body);
  } else {
    AppendDecisionBody(decision, response.body);
  }
}

void AnswerError(int status, std::string_view error, std::string_view field,
                 net::HttpResponse& response) {
  response.status = status;
  response.AddHeader("Content-Type", "application/json");
  response.body.clear();
  JsonWriter json(response.body);
  json.BeginObject();
  json.Key("error").String(error);
  if (!field.empty()) json.Key("field").String(field);
  json.Key("detail").String(error).EndObject();
}

}  // namespace brim::door

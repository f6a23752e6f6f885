#include "door/rate_headers.h"

#include <cstdint>

#include <brim/static_vector.h>
#include "base/rounding.h"
#include "base/structured_field.h"

namespace brim::door {
namespace {

// The IETF draft on rate-limit headers is moving: its names stand here alone.
constexpr std::string_view kPolicyField = "RateLimit-Policy";
constexpr std::string_view kStateField = "RateLimit";
constexpr std::string_view kQuota = "q";
constexpr std::string_view kWindow = "w";
constexpr std::string_view kRemaining = "r";
constexpr std::string_view kTimeToFit = "t";

std::int64_t SecondsUp(Micros duration) { return RetryAfterSeconds(duration).value_or(0); }

// The limits in the order in which a decision has its lines.
using Ordered = StaticVector<const Limit*, kMaxLines>;

Ordered InOrder(std::span<const LimitItem> items) {
  Ordered limits;
  for (const LimitItem& item : items) {
    if (item.limit.mode() == Mode::kOff || limits.full()) continue;
    std::size_t at = limits.size();
    limits.push_back(&item.limit);
    for (; at > 0 && item.limit.window() < limits[at - 1]->window(); --at) {
      limits[at] = limits[at - 1];
    }
    limits[at] = &item.limit;
  }
  return limits;
}

// Names lines one after the other: equal windows stand together, so a count tells them apart.
class LineNames {
 public:
  std::string Next(Micros window) {
    same_ = window == window_ ? same_ + 1 : 1;
    window_ = window;
    std::string name = WindowName(window);
    if (same_ > 1) name.append("-").append(Decimal(same_).view());
    return name;
  }

 private:
  Micros window_{0};  // no limit's
  std::int64_t same_ = 0;
};

// In which its quota comes back: the window, or for a token bucket the time to refill it whole.
Micros RefillTime(const Limit& limit) {
  if (limit.algorithm() != Algorithm::kTokenBucket) return limit.window();
  return Micros(DivideUp(limit.burst() * limit.interval(), limit.ticks_per_us()));
}

void AppendPolicy(std::span<const LimitItem> items, std::string& out) {
  StructuredList list(out);
  LineNames names;
  for (const Limit* limit : InOrder(items)) {
    list.Item(names.Next(limit->window()))
        .Parameter(kQuota, limit->capacity())
        .Parameter(kWindow, SecondsUp(RefillTime(*limit)));
  }
}

// Whether the line's wait is what keeps this check out: shadow lines refuse nobody.
bool Refuses(const LineDecision& line) {
  return line.limit.mode() == Mode::kEnforce && line.fit == Fit::kOver;
}

// Straight into the header block: one value for all lines, without a string between. Nothing in it
// comes from a client.
void AddStateHeader(const Decision& decision, std::string& headers) {
  if (decision.lines.empty()) return;
  headers.append(kStateField).append(": ");
  StructuredList list(headers);
  LineNames names;
  for (const LineDecision& line : decision.lines) {
    list.Item(names.Next(line.limit.window())).Parameter(kRemaining, line.remaining);
    if (!decision.allowed() && Refuses(line)) {
      list.Parameter(kTimeToFit, SecondsUp(line.retry_after));
    }
  }
  headers += "\r\n";
}

bool CanEverFit(const Decision& decision) { return decision.retry_after != kNever; }

void AddRetryHeaders(const Decision& decision, net::HttpResponse& response) {
  if (!CanEverFit(decision)) return response.AddHeader("x-should-retry", "false");
  response.AddHeader("Retry-After", SecondsUp(decision.retry_after));
  response.AddHeader("retry-after-ms", RetryAfterMillis(decision.retry_after).value_or(0));
}

// When the cost fits, or when all is fresh again.
std::int64_t ResetSeconds(const Decision& decision) {
  const bool waits = !decision.allowed() && CanEverFit(decision);
  return SecondsUp(waits ? decision.retry_after : decision.reset_after);
}

}  // namespace

std::string PolicyValue(std::span<const LimitItem> items) {
  std::string value;
  AppendPolicy(items, value);
  return value;
}

void AddPolicyHeader(std::string_view value, HeaderFamilies families, net::HttpResponse& response) {
  if (families.ietf && !value.empty()) response.AddHeader(kPolicyField, value);
}

void AddPolicyHeader(std::span<const LimitItem> items, HeaderFamilies families,
                     net::HttpResponse& response) {
  if (!families.ietf || items.empty()) return;
  AddPolicyHeader(PolicyValue(items), families, response);
}

void AddDecisionHeaders(const Decision& decision, HeaderFamilies families,
                        net::HttpResponse& response) {
  if (families.x_ratelimit && decision.window > Micros{0}) {
    response.AddHeader("X-RateLimit-Limit", decision.limit);
    response.AddHeader("X-RateLimit-Remaining", decision.allowed() ? decision.remaining : 0);
    response.AddHeader("X-RateLimit-Window", WindowName(decision.window));
    response.AddHeader("X-RateLimit-Reset", ResetSeconds(decision));
  }
  if (families.ietf) AddStateHeader(decision, response.headers);
  if (!decision.allowed()) AddRetryHeaders(decision, response);
}

std::string LineName(const Decision& decision, std::size_t line) {
  LineNames names;
  std::string name;
  for (std::size_t i = 0; i <= line; ++i) name = names.Next(decision.lines[i].limit.window());
  return name;
}

}  // namespace brim::door

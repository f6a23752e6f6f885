#include "door/admin/limits_query.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "net/http.h"
#include "policy/did_you_mean.h"

namespace brim::door {
namespace {

constexpr std::array<std::string_view, 3> kParameters = {"limits", "scope", "tier"};

Error Invalid(std::string_view field, std::string message) {
  return {ErrorCode::kInvalid, std::move(message), std::string(field)};
}

// A mistyped parameter that is passed over would reset other keys than those that were meant.
Result<void> CheckNames(std::string_view query) {
  while (!query.empty()) {  // stops: each turn drops one pair
    const std::size_t end = query.find('&');
    const std::string_view name = query.substr(0, std::min(end, query.find('=')));
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (std::ranges::find(kParameters, name) != kParameters.end()) continue;
    std::string message("there is no such parameter; ");
    const std::string_view meant = DidYouMean(name, kParameters);
    message += meant.empty() ? "there is limits, scope and tier"
                             : "did you mean \"" + std::string(meant) + "\"?";
    return Invalid(name.substr(0, limits::kMaxShownWordBytes), std::move(message));
  }
  return {};
}

Result<std::string> Decode(std::string_view text, std::string_view field, char plus) {
  std::string decoded;
  if (AppendPercentDecoded(text, decoded, plus)) return decoded;
  return Invalid(field, "it is not percent-encoded as it should be: % and two hex digits");
}

// The decoded value; empty if it is not there.
Result<std::string> Value(std::string_view query, std::string_view name) {
  return Decode(net::FindQueryValue(query, name).value_or(""), name, ' ');
}

}  // namespace

Result<LimitsQuery> LimitsQuery::Parse(std::string_view subject, std::string_view query,
                                       const ServedPolicy& policy) {
  if (auto known = CheckNames(query); !known) return known.error();
  auto who = Decode(subject, "subject", '+');
  if (!who) return who.error();
  auto scope = Value(query, "scope");
  if (!scope) return scope.error();
  const auto tier = Value(query, "tier");
  if (!tier) return tier.error();
  const auto limits = Value(query, "limits");
  if (!limits) return limits.error();

  LimitsQuery result;
  result.subject_ = *std::move(who);
  result.scope_ = *std::move(scope);
  if (limits->empty()) {
    result.items_ = policy.FindTier(*tier).items;
    return result;
  }
  auto parsed = ParseLimits(*limits);
  if (!parsed) return Invalid("limits", parsed.error().message);
  result.limits_ = *std::move(parsed);
  return result;
}

CheckRequest LimitsQuery::request() const {
  return {.subject = subject_, .limits = limits_, .cost = 0, .scope = scope_, .items = items_};
}

}  // namespace brim::door

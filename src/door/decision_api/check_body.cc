#include "door/decision_api/check_body.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/limits.h"
#include "policy/did_you_mean.h"

namespace brim::door {
namespace {

constexpr std::string_view kSubject = "subject";
constexpr std::string_view kScope = "scope";
constexpr std::string_view kTier = "tier";
constexpr std::string_view kCost = "cost";
constexpr std::string_view kLimits = "limits";
constexpr std::string_view kLimit = "limit";
constexpr std::string_view kAlgorithm = "algorithm";

constexpr std::array kCheckMembers = {kSubject, kScope, kTier, kCost, kLimits, kAlgorithm};
constexpr std::array kItemMembers = {kLimit, kSubject, kScope, kCost};

constexpr std::string_view kWhatLimitsAre =
    "it must be a list like [\"5 per minute\", {\"limit\": \"100 per day\", \"subject\": "
    "\"site\"}], or a text like \"5 per minute; 100 per day\"";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

// "limits", "limits[1]", "limits[1].cost"; `member` alone outside of limits.
std::string PathIn(std::optional<std::size_t> place, std::string_view member) {
  if (!place) return std::string(member);
  std::string path(kLimits);
  path.append("[").append(std::to_string(*place)).append("]");
  if (!member.empty()) path.append(".").append(member);
  return path;
}

}  // namespace

Result<void> CheckBodyReader::Read(std::string_view body) {
  checks_.clear();
  items_.clear();
  json_.Begin(body);
  is_batch_ = json_.BeginArray();
  if (is_batch_) {
    // Stops: at the end, or one behind the most.
    while (checks_.size() <= limits::kMaxBatchChecks && json_.NextElement()) ReadCheck();
    if (checks_.size() > limits::kMaxBatchChecks) return {};
  } else {
    ReadCheck();
  }
  if (!json_.End()) {
    checks_.clear();
    return Error{ErrorCode::kInvalid, json_.error().message, "body"};
  }
  // Now that the items do not move any more.
  const LimitItem* item = items_.data();
  for (Result<CheckBody>& check : checks_) {
    if (!check) continue;
    check->request.items = {item, check->request.items.size()};
    item += check->request.items.size();
  }
  return {};
}

void CheckBodyReader::ReadCheck() {
  texts_.clear();
  algorithm_ = Algorithm::kSlidingWindow;
  error_.reset();
  CheckBody body;
  if (json_.BeginObject()) {
    TakeMembers(kCheckMembers, [&](std::size_t member) { TakeMember(member, body); });
    if (body.request.subject.empty()) Refuse(kSubject, "it is missing; name who is limited");
    ParseItems(body);
  } else {
    json_.Skip();
    Refuse("body", "a check must be an object like {\"subject\": \"user_8421\"}");
  }
  if (error_) {
    checks_.emplace_back(*std::move(error_));
  } else {
    checks_.emplace_back(body);
  }
}

void CheckBodyReader::TakeMember(std::size_t member, CheckBody& body) {
  const std::string_view name = kCheckMembers[member];
  if (name == kSubject) {
    body.request.subject = TakeText(kSubject, false);
  } else if (name == kScope) {
    body.request.scope = TakeText(kScope, true);
  } else if (name == kTier) {
    body.tier = TakeText(kTier, false);
  } else if (name == kCost) {
    body.request.cost = TakeCost(0);
  } else if (name == kLimits) {
    TakeLimits();
  } else {
    TakeAlgorithm();
  }
}

void CheckBodyReader::TakeLimits() {
  if (json_.BeginArray()) {
    for (std::size_t place = 0; json_.NextElement(); ++place) TakeItem(place);
    if (texts_.empty()) Refuse(kLimits, "it is empty; leave it out for the limits of the tier");
    return;
  }
  ItemText all;
  if (json_.String(all.text)) return AddItems(all);
  json_.Skip();
  Refuse(kLimits, std::string(kWhatLimitsAre));
}

void CheckBodyReader::TakeItem(std::size_t place) {
  ItemText item{.place = place};
  if (json_.String(item.text)) return AddItems(item);
  if (!json_.BeginObject()) {
    json_.Skip();
    return Refuse(PathIn(place, ""),
                  "it must be a text like \"5 per minute\", or an object with it");
  }
  item.is_object = true;
  inside_place_ = place;
  TakeMembers(kItemMembers, [&](std::size_t member) { TakeItemMember(member, item); });
  if (item.text.empty()) Refuse(kLimit, "it is missing; write for example \"5 per minute\"");
  inside_place_.reset();
  AddItems(item);
}

void CheckBodyReader::TakeItemMember(std::size_t member, ItemText& item) {
  const std::string_view name = kItemMembers[member];
  if (name == kLimit) {
    item.text = TakeText(kLimit, false);
  } else if (name == kSubject) {
    item.subject = TakeText(kSubject, false);
  } else if (name == kScope) {
    item.scope = TakeText(kScope, true);
  } else {
    item.cost = TakeCost(1);
  }
}

// A text may hold several limits, with a ';' behind the last one, too.
void CheckBodyReader::AddItems(const ItemText& all) {
  std::string_view rest = all.text;
  do {  // stops: each turn drops one limit
    const std::size_t end = all.is_object ? std::string_view::npos : rest.find(';');
    if (texts_.size() == kMaxLines) {
      return Refuse(kLimits, "at most " + std::to_string(kMaxLines) +
                                 " limits can stand in one check; split it");
    }
    texts_.push_back(all);
    texts_.back().text = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  } while (!IsBlank(rest));
}

void CheckBodyReader::ParseItems(CheckBody& body) {
  if (error_) return;
  for (const ItemText& item : texts_) {
    const Result<Limit> limit = known_.Parse(item.text, algorithm_);
    if (!limit) {
      items_.erase(items_.end() - static_cast<std::ptrdiff_t>(body.request.items.size()),
                   items_.end());
      return Refuse(
          item.place ? PathIn(item.place, item.is_object ? kLimit : "") : std::string(kLimits),
          limit.error().message);
    }
    items_.push_back({*limit, item.subject, item.scope, item.cost});
    body.request.items = {items_.data(), body.request.items.size() + 1};
  }
}

template <std::size_t N, typename Take>
void CheckBodyReader::TakeMembers(const std::array<std::string_view, N>& names, Take take) {
  std::uint32_t seen = 0;
  std::string_view name;
  while (json_.NextMember(name)) {
    const auto member = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (member == N) {
      RefuseUnknown(name, names);
      json_.Skip();
    } else if ((seen >> member & 1) != 0) {
      Refuse(name, "it is there twice; give it once");
      json_.Skip();
    } else {
      seen |= 1U << member;
      take(member);
    }
  }
}

std::string_view CheckBodyReader::TakeText(std::string_view member, bool may_be_empty) {
  std::string_view text;
  if (!json_.String(text)) {
    json_.Skip();
    Refuse(member, "it must be a text in quotes");
  } else if (text.empty() && !may_be_empty) {
    Refuse(member, "it is empty; give a text, or leave it out");
  }
  return text;
}

Units CheckBodyReader::TakeCost(Units least) {
  std::string_view digits;
  Units cost = -1;
  if (!json_.Number(digits)) {
    json_.Skip();
  } else if (const auto [stop, error] =
                 std::from_chars(digits.data(), digits.data() + digits.size(), cost);
             error != std::errc() || stop != digits.data() + digits.size()) {
    cost = -1;
  }
  if (cost < least) {
    Refuse(kCost, least == 0 ? "it must be a whole number below 2^63; 0 only looks"
                             : "it must be a whole number from 1 on and below 2^63");
  }
  return cost;
}

void CheckBodyReader::TakeAlgorithm() {
  std::string_view name;
  if (!json_.String(name)) json_.Skip();
  if (const auto algorithm = ParseAlgorithm(name)) {
    algorithm_ = *algorithm;
  } else {
    Refuse(kAlgorithm,
           "it must be \"sliding_window\", \"fixed_window\", \"token_bucket\" or "
           "\"sliding_window_counter\"");
  }
}

void CheckBodyReader::Refuse(std::string_view member, std::string message) {
  if (error_) return;
  error_ = Error{ErrorCode::kInvalid, std::move(message), PathIn(inside_place_, member)};
}

void CheckBodyReader::RefuseUnknown(std::string_view name,
                                    std::span<const std::string_view> known) {
  if (error_) return;
  std::string message("there is no such member; ");
  if (const std::string_view meant = DidYouMean(name, known); !meant.empty()) {
    message.append("did you mean \"").append(meant).append("\"?");
  } else {
    message += "there is";
    for (const std::string_view word : known) message.append(" ").append(word);
  }
  Refuse(name.substr(0, limits::kMaxShownWordBytes), std::move(message));
}

}  // namespace brim::door

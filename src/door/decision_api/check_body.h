// The body of /v1/check, /v1/refund and /v1/charge: one check as a JSON object, or a batch of them
// as an array.
//
//   {"subject": "user_8421", "scope": "chat", "cost": 1, "algorithm": "token_bucket",
//    "limits": ["60 per minute", {"limit": "1000 per minute", "subject": "site", "cost": 2}]}
//   {"subject": "user_8421", "tier": "pro"}
//
// `limits` may also be one text, "60 per minute; 5000 per day"; they stand in for those of a tier.
// All but the subject is optional.
// Whatever is not exactly that is an error that names the member, "limits[1].cost", and the remedy:
// unknown and repeated members too, as a typing error that is passed over would lift a limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brim/limiter.h>
#include <brim/result.h>
#include "base/json_reader.h"
#include "door/decision_api/limit_texts.h"

namespace brim::door {

// One check. Without items it is the tier's; without a tier, too, the default tier's.
struct CheckBody {
  CheckRequest request;                                 // `items` are the body's limits
  std::optional<std::string_view> tier = std::nullopt;  // only looked at if there are no items
};

// Reads bodies, one after the other, into the same memory. Thread-compatible: one a thread.
class CheckBodyReader {
 public:
  // kInvalid, field "body": it is no JSON; then there are no checks. A batch is read up to one
  // check more than kMaxBatchChecks, which the caller refuses.
  Result<void> Read(std::string_view body);

  bool is_batch() const { return is_batch_; }
  // In order; each as it is, or kInvalid with the path of the member. One, unless it is a batch.
  // Views live until the next Read, and as long as the body.
  std::span<const Result<CheckBody>> checks() const { return checks_; }

 private:
  // What a limit says beside its text, and where it stands in the body.
  struct ItemText {
    std::string_view text = {};
    std::string_view subject = {};
    std::optional<std::string_view> scope = std::nullopt;
    std::optional<Units> cost = std::nullopt;
    std::optional<std::size_t> place = std::nullopt;  // in a list
    bool is_object = false;
  };

  void ReadCheck();
  void TakeMember(std::size_t member, CheckBody& body);
  void TakeLimits();
  void TakeItem(std::size_t place);
  void TakeItemMember(std::size_t member, ItemText& item);
  void AddItems(const ItemText& all);
  void ParseItems(CheckBody& body);

  // Reads an object to its end; calls `take(i)`, which takes the value, for the member names[i].
  template <std::size_t N, typename Take>
  void TakeMembers(const std::array<std::string_view, N>& names, Take take);

  // Take the next value, or note why it is not what the member must be.
  std::string_view TakeText(std::string_view member, bool may_be_empty);
  Units TakeCost(Units least);
  void TakeAlgorithm();
  void Refuse(std::string_view member, std::string message);
  void RefuseUnknown(std::string_view name, std::span<const std::string_view> known);

  JsonReader json_;
  LimitTexts known_;
  bool is_batch_ = false;
  std::vector<Result<CheckBody>> checks_;
  std::vector<LimitItem> items_;  // of all checks, one behind the other

  // Of the check at hand.
  std::vector<ItemText> texts_;  // parsed when the algorithm is known, which may come after them
  Algorithm algorithm_ = Algorithm::kSlidingWindow;
  std::optional<Error> error_;               // the first one
  std::optional<std::size_t> inside_place_;  // of the limit whose members are read
};

}  // namespace brim::door

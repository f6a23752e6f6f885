// The front of the engine: a subject and its limits in, a decision out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <brim/decision.h>
#include <brim/function.h>
#include <brim/limit.h>
#include <brim/memory_store.h>
#include <brim/result.h>
#include <brim/store.h>

namespace brim {

class KeyEncoder;

// What a call answers when the store gives no answer. A charge is decided as a check is; a refund
// gives nothing back then.
enum class OnFailure : std::uint8_t {
  kLocal,   // an embedded store decides with units / nodes (at least 1, unless the limit is 0)
  kOpen,    // allowed, reason kFailOpen
  kClosed,  // limited, reason kFailClosed
};

struct LimiterOptions {
  std::string key_prefix = "ratelimit";  // 1 ... 32 bytes of letters, digits and -_.:
  bool hash_tag = false;                 // braces around the subject, as Redis Cluster needs them
  Micros store_timeout = std::chrono::milliseconds(50);
  OnFailure on_failure = OnFailure::kLocal;
  std::int64_t nodes = 1;  // replicas that share the limits, for kLocal
  // Unset: on if the environment says RATE_LIMIT_DISABLED=true (or 1) when the Limiter is made.
  std::optional<bool> kill_switch = std::nullopt;
};

// A limit that counts for somebody or something else than the rest of its check: a cap that all
// users of an upstream share, beside the user's own limits.
struct LimitItem {
  Limit limit;
  std::string_view subject = {};                         // empty: that of the request
  std::optional<std::string_view> scope = std::nullopt;  // unset: that of the request
  std::optional<Units> cost = std::nullopt;              // 1 or more; unset: that of the request
};

// One question. The views are read before Check returns (or CheckAsync: nothing is kept).
struct CheckRequest {
  std::string_view subject;            // who: must not be empty; any bytes
  std::span<const Limit> limits = {};  // with distinct keys; in any order
  Units cost = 1;                      // 0 peeks: would one unit fit now? Nothing is written.
  std::string_view scope = {};         // what: keeps counters of one subject apart
  // More limits of the same atomic check; all together at most kMaxLines. Of equal windows `limits`
  // come first.
  std::span<const LimitItem> items = {};
};

// Thread-safe. Borrows the store, which must outlive it.
class Limiter {
 public:
  using Done = MoveOnlyFunction<void(const Decision&)>;
  using ReceiptDone = MoveOnlyFunction<void(const Decision&, Receipt)>;
  using ResetDone = MoveOnlyFunction<void(Result<std::int64_t>)>;
  using EachDone = std::function<void(std::size_t, const Decision&)>;

  explicit Limiter(Store& store, LimiterOptions options = {});
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;
  ~Limiter();  // waits for nothing: callbacks of checks under way come later, from the store

  // The one-line form: at most `units` of `subject` in any span of `window` (sliding_window).
  // Limited with reason kInvalidLimit if subject or numbers make no sense.
  Decision Check(std::string_view subject, Units units, Micros window);

  // All limits are charged, or none. Blocks for at most store_timeout.
  Decision Check(const CheckRequest& request);

  // The same, and what it takes to give exactly this back. The receipt is empty if nothing was
  // charged, or not in the store itself.
  Decision Check(const CheckRequest& request, Receipt& receipt);

  // Charges all limits, past them too: for what is known only afterwards. Allowed, unless
  // on_failure has to decide; `remaining` tells what is left. Blocks for at most store_timeout.
  Decision Charge(const CheckRequest& request);

  // Gives back the cost: the oldest units first, at most what was used. Allowed, unless on_failure
  // has to decide. Blocks for at most store_timeout.
  Decision Refund(const CheckRequest& request);

  // Gives back what the check that filled the receipt charged, as far as it still counts, and uses
  // the receipt up. `request` must be that of the check. An empty receipt gives back nothing.
  Decision Refund(const CheckRequest& request, Receipt receipt);

  // The same without blocking. `done` is called exactly once: maybe before they return, maybe on a
  // thread of the store; it must not block. An embedded store answers inside the call: a `done`
  // that asks again and again goes as deep.
  void CheckAsync(const CheckRequest& request, Done done);
  void CheckAsync(const CheckRequest& request, ReceiptDone done);
  void ChargeAsync(const CheckRequest& request, Done done);
  void RefundAsync(const CheckRequest& request, Done done);
  void RefundAsync(const CheckRequest& request, Receipt receipt, Done done);

  // Many checks at once: each is atomic, all are in order, and they cost a fraction of single ones
  // (memory is prefetched, Redis gets many in one write). REQUIRES: as many decisions as requests.
  // A long batch goes in steps of some checks, each of which has store_timeout for itself: so its
  // length alone makes no check late.
  void CheckBatch(std::span<const CheckRequest> requests, std::span<Decision> decisions);

  // The same without blocking: `done` is called exactly once for each request, with its index, in
  // any order, otherwise as that of CheckAsync; of a request that makes no sense before it returns.
  // All are asked at once: store_timeout is for the whole batch.
  void CheckBatchAsync(std::span<const CheckRequest> requests, const EachDone& done);

  // Forgets what the subject used under these limits and this scope, and nothing else; tells how
  // many keys there were. Works while the kill switch is on. Blocks for at most store_timeout.
  Result<std::int64_t> Reset(const CheckRequest& request);
  // The same without blocking. `done` as that of CheckAsync.
  void ResetAsync(const CheckRequest& request, ResetDone done);

  // Why Check would answer kInvalidLimit, with field ("subject", "limits", "cost") and remedy; or
  // Charge or Refund, if `op` is theirs.
  Result<void> Validate(const CheckRequest& request) const;
  Result<void> Validate(const CheckRequest& request, Op op) const;

  // What is wrong with the options. A Limiter made with wrong ones answers every check with
  // kInvalidLimit.
  static Result<void> ValidateOptions(const LimiterOptions& options);

  // While on, every check, charge and refund is allowed, remaining = limit, and no store is
  // touched. Relaxed: the flag orders nothing else, and a call already under way may miss the
  // change.
  void SetKillSwitch(bool on) { kill_switch_.store(on, std::memory_order_relaxed); }
  bool kill_switch() const { return kill_switch_.load(std::memory_order_relaxed); }

 private:
  class Failover;
  struct Call;
  struct Pending;

  Result<void> Match(const CheckRequest& request, Op op, CheckLines& lines) const;
  bool TakeSingle(const CheckRequest& request, Decision& decision);
  template <typename Answer>
  std::size_t TakeSingles(std::span<const CheckRequest> requests, Answer answer);
  // Fills the call's lines; and decision and receipt, if they can be had without waiting.
  bool AnswerNow(const CheckRequest& request, Call& call, Decision& decision, Receipt& receipt);
  void Ask(const Call& call, ReceiptDone done);
  Decision Run(const CheckRequest& request, Call call, Receipt* receipt = nullptr);
  void RunAsync(const CheckRequest& request, Call call, ReceiptDone done);
  static Call RefundOf(const Receipt& receipt);
  void AskSome(std::span<const CheckRequest> requests, std::size_t first, const EachDone& done);

  Store& store_;
  const Micros store_timeout_;
  const std::unique_ptr<const KeyEncoder> keys_;
  const Result<void> options_valid_;
  const std::shared_ptr<Failover> failover_;
  std::atomic<bool> kill_switch_;
};

}  // namespace brim

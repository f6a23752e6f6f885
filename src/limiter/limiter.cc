// request -> match -> check -> limiter -> store -> decision.
//
// A store that answers at once (memory) is asked in the caller's thread, with everything on the
// stack: nothing is allocated. Any other store is asked with a copy of the lines that lives until
// it answers; the callback holds no Limiter, which may be gone by then.
#include <brim/limiter.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "limiter/decide.h"
#include "limiter/match.h"

namespace brim {
namespace {

// Tells clients of a closed limiter when to come again; a store is back in about that time, or
// later.
constexpr Micros kFailClosedRetryAfter = std::chrono::seconds(1);

bool KillSwitchOfEnvironment() {
  const char* value = std::getenv("RATE_LIMIT_DISABLED");
  const std::string_view text = value == nullptr ? "" : value;
  return text == "true" || text == "TRUE" || text == "True" || text == "1";
}

Op OpOf(const CheckRequest& request) { return request.cost == 0 ? Op::kPeek : Op::kTake; }

// One thread waits for what another completes. Shared, so that the completing side may still be
// inside Complete() when the waiting side is gone.
template <typename T>
class Waiter {
 public:
  void Complete(T value) {
    const std::lock_guard lock(mu_);
    value_.emplace(std::move(value));
    completed_.notify_one();
  }
  T Wait() {
    std::unique_lock lock(mu_);
    completed_.wait(lock, [this] { return value_.has_value(); });
    return std::move(*value_);
  }

 private:
  std::mutex mu_;
  std::condition_variable completed_;
  std::optional<T> value_;  // GUARDED_BY(mu_)
};

}  // namespace

// How to answer when the store does not; shared with the callbacks under way.
class Limiter::Failover {
 public:
  Failover(OnFailure policy, std::int64_t nodes) : policy_(policy), nodes_(nodes) {}

  // The one place that turns a store error into an answer.
  Decision Answer(std::span<const Line> lines, Op op, const Error& error) {
    Decision decision = AnswerByPolicy(lines, op);
    decision.store_error = ToStoreError(error.code);
    return decision;
  }

 private:
  Decision AnswerByPolicy(std::span<const Line> lines, Op op) {
    switch (policy_) {
      case OnFailure::kOpen:
        return AnswerUnasked(lines, Outcome::kAllowed, Reason::kFailOpen);
      case OnFailure::kClosed: {
        Decision decision = AnswerUnasked(lines, Outcome::kLimited, Reason::kFailClosed);
        decision.retry_after = kFailClosedRetryAfter;
        return decision;
      }
      case OnFailure::kLocal:
        break;
    }
    return AnswerLocally(lines, op);
  }

  Decision AnswerLocally(std::span<const Line> lines, Op op) {
    CheckLines shares;
    for (const Line& line : lines) {
      const Units units = line.limit.units();
      shares.Add(line.key,
                 line.limit.WithUnits(units == 0 ? 0 : std::max<Units>(1, units / nodes_)),
                 line.cost);
    }
    Taken taken;
    BRIM_ASSERT(local_.TryNow({op, shares}, taken));
    Decision decision = Decide(shares, taken);
    decision.reason = Reason::kDegradedLocal;
    return decision;
  }

  const OnFailure policy_;
  const std::int64_t nodes_;
  MemoryStore local_;
};

struct Limiter::Pending {
  Pending(std::vector<Line> lines, Op op, std::shared_ptr<Failover> failover, Done done)
      : lines(std::move(lines)), op(op), failover(std::move(failover)), done(std::move(done)) {}

  std::vector<Line> lines;
  Op op;
  std::shared_ptr<Failover> failover;
  Done done;

  void Finish(const Result<Taken>& taken) {
    done(taken ? Decide(lines, *taken) : failover->Answer(lines, op, taken.error()));
  }
};

Limiter::Limiter(Store& store, LimiterOptions options)
    : store_(store),
      store_timeout_(options.store_timeout),
      keys_(std::make_unique<const KeyOptions>(KeyOptions{
          .prefix = options.key_prefix, .hash_tag = options.hash_tag || store.needs_hash_tag()})),
      options_valid_(ValidateOptions(options)),
      failover_(
          std::make_shared<Failover>(options.on_failure, std::max<std::int64_t>(1, options.nodes))),
      kill_switch_(options.kill_switch.value_or(KillSwitchOfEnvironment())) {}

Limiter::~Limiter() = default;

Decision Limiter::Check(std::string_view subject, Units units, Micros window) {
  const Result<Limit> limit = Limit::Create({.units = units, .window = window});
  if (limit) return Check({.subject = subject, .limits = std::span(&*limit, 1)});
  if (kill_switch()) return AnswerUnasked({}, Outcome::kAllowed, Reason::kKillSwitch);
  return AnswerInvalid();
}

Decision Limiter::Check(const CheckRequest& request) {
  CheckLines lines;
  Decision decision;
  if (AnswerNow(request, lines, decision)) return decision;
  const auto waiter = std::make_shared<Waiter<Decision>>();
  Ask(lines, OpOf(request), [waiter](const Decision& answer) { waiter->Complete(answer); });
  return waiter->Wait();
}

void Limiter::CheckAsync(const CheckRequest& request, Done done) {
  CheckLines lines;
  Decision decision;
  if (AnswerNow(request, lines, decision)) return done(decision);
  Ask(lines, OpOf(request), std::move(done));
}

bool Limiter::AnswerNow(const CheckRequest& request, CheckLines& lines, Decision& decision) {
  const Result<void> matched = Match(request, lines);
  if (kill_switch()) {
    decision = AnswerUnasked(lines, Outcome::kAllowed, Reason::kKillSwitch);
  } else if (!matched) {
    decision = AnswerInvalid();
  } else if (!lines.empty()) {
    Taken taken;
    if (!store_.TryNow({OpOf(request), lines}, taken)) return false;
    decision = Decide(lines, taken);
  }
  return true;
}

void Limiter::Ask(const CheckLines& lines, Op op, Done done) {
  auto pending = std::make_unique<Pending>(std::vector<Line>(lines.begin(), lines.end()), op,
                                           failover_, std::move(done));
  store_.Run({op, lines}, store_timeout_,
             [pending = std::move(pending)](Result<Taken> taken) { pending->Finish(taken); });
}

Result<std::int64_t> Limiter::Reset(const CheckRequest& request) {
  CheckLines lines;
  if (auto matched = Match(request, lines); !matched) return matched.error();
  std::vector<Key> keys;
  for (const Line& line : lines) keys.push_back(line.key);
  const auto waiter = std::make_shared<Waiter<Result<std::int64_t>>>();
  store_.Reset(keys, store_timeout_,
               [waiter](Result<std::int64_t> removed) { waiter->Complete(std::move(removed)); });
  return waiter->Wait();
}

Result<void> Limiter::Validate(const CheckRequest& request) const {
  CheckLines lines;
  return Match(request, lines);
}

Result<void> Limiter::ValidateOptions(const LimiterOptions& options) {
  if (options.nodes < 1) {
    return Error{ErrorCode::kInvalid, "nodes must be 1 or more", "nodes"};
  }
  if (options.store_timeout < Micros{1}) {
    return Error{ErrorCode::kInvalid, "store_timeout must be more than 0", "store_timeout"};
  }
  return ValidateKeyOptions({.prefix = options.key_prefix, .hash_tag = options.hash_tag});
}

Result<void> Limiter::Match(const CheckRequest& request, CheckLines& lines) const {
  if (!options_valid_) return options_valid_;
  return MatchLines(*keys_, request, lines);
}

}  // namespace brim

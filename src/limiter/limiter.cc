// request -> match -> check -> limiter -> store -> decision.
//
// A store that answers at once (memory) is asked in the caller's thread, with everything on the
// stack: nothing is allocated. Any other store is asked with a copy of the lines that lives until
// it answers; the callback holds no Limiter, which may be gone by then.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include <brim/limiter.h>
#include "base/assert.h"
#include "limiter/decide.h"
#include "limiter/match.h"
#include "limiter/single.h"

namespace brim {
namespace {

// Checks of a batch that go to the store together: enough for it to gain by, and few enough that
// their lines stay in the processor's cache.
constexpr std::size_t kBatchStep = 64;

// Checks of a batch that an embedded store is asked together, with their keys on the stack.
constexpr std::size_t kTakeGroup = 16;

// Tells clients of a closed limiter when to come again; a store is back in about that time, or
// later.
constexpr Micros kFailClosedRetryAfter = std::chrono::seconds(1);

bool KillSwitchOfEnvironment() {
  const char* value = std::getenv("RATE_LIMIT_DISABLED");
  const std::string_view text = value == nullptr ? "" : value;
  return text == "true" || text == "TRUE" || text == "True" || text == "1";
}

Op OpOf(const CheckRequest& request) { return request.cost == 0 ? Op::kPeek : Op::kTake; }

Limiter::ReceiptDone WithoutReceipt(Limiter::Done done) {
  return [done = std::move(done)](const Decision& decision, Receipt) mutable { done(decision); };
}

// Answers what no store is needed for: limiting is off, the request makes no sense, or no limit
// applies. False: the store has to be asked.
bool AnswerAtOnce(bool kill_switch, bool valid, const CheckLines& lines, Decision& decision) {
  if (kill_switch) {
    decision = AnswerUnasked(lines, Outcome::kAllowed, Reason::kKillSwitch);
  } else if (!valid) {
    decision = AnswerInvalid();
  } else if (lines.empty()) {
    decision = {};
  } else {
    return false;
  }
  return true;
}

// Some checks of a batch, which the store is asked together. The requests are views of `lines`,
// which must not grow beyond what was reserved.
struct Asked {
  std::vector<Line> lines;
  std::vector<Request> requests;
  std::vector<std::size_t> index;  // of each request in the batch

  void Add(Op op, const CheckLines& check, std::size_t i) {
    const std::size_t begin = lines.size();
    lines.insert(lines.end(), check.begin(), check.end());
    requests.push_back({op, std::span(lines).subspan(begin)});
    index.push_back(i);
  }
};

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

// How many calls of a batch are still open. Shared, as a Waiter is.
class OpenCalls {
 public:
  void Begin(std::size_t calls) {
    const std::lock_guard lock(mu_);
    open_ += calls;
  }
  void End() {
    const std::lock_guard lock(mu_);
    if (--open_ == most_) few_enough_.notify_one();
  }
  void Wait(std::size_t for_at_most) {
    std::unique_lock lock(mu_);
    most_ = for_at_most;
    few_enough_.wait(lock, [this] { return open_ <= most_; });
  }

 private:
  std::mutex mu_;
  std::condition_variable few_enough_;
  std::size_t open_ = 0;  // GUARDED_BY(mu_)
  std::size_t most_ = 0;  // GUARDED_BY(mu_); that may still be open when Wait() returns
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

  // What was charged to the store that failed is not given back here.
  Decision AnswerLocally(std::span<const Line> lines, Op op) {
    if (op == Op::kRefund) op = Op::kPeek;
    CheckLines shares;
    for (const Line& line : lines) shares.Add(line.key, line.limit.ShareOf(nodes_), line.cost);
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

// What is asked of the store.
struct Limiter::Call {
  Op op;
  bool wants_receipt = false;
  const Receipt* receipt = nullptr;
  CheckLines lines = {};

  Request request() const { return {op, lines, wants_receipt, receipt}; }
};

struct Limiter::Pending {
  std::vector<Line> lines;
  Op op;
  std::shared_ptr<Failover> failover;
  ReceiptDone done;

  void Finish(Result<Taken> taken) {
    if (taken) {
      done(Decide(lines, *taken), std::move(taken->receipt));
    } else {
      done(failover->Answer(lines, op, taken.error()), {});
    }
  }
};

Limiter::Limiter(Store& store, LimiterOptions options)
    : store_(store),
      store_timeout_(options.store_timeout),
      keys_(std::make_unique<const KeyEncoder>(KeyOptions{
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
  Decision decision;
  if (!TakeSingle(request, decision)) decision = Run(request, {OpOf(request)});
  return decision;
}

Decision Limiter::Check(const CheckRequest& request, Receipt& receipt) {
  return Run(request, {OpOf(request), true}, &receipt);
}

Decision Limiter::Charge(const CheckRequest& request) { return Run(request, {Op::kCharge}); }

Decision Limiter::Refund(const CheckRequest& request) { return Run(request, {Op::kRefund}); }

Decision Limiter::Refund(const CheckRequest& request, Receipt receipt) {
  return Run(request, RefundOf(receipt));
}

void Limiter::CheckAsync(const CheckRequest& request, Done done) {
  Decision decision;
  if (TakeSingle(request, decision)) return done(decision);
  RunAsync(request, {OpOf(request)}, WithoutReceipt(std::move(done)));
}

void Limiter::CheckAsync(const CheckRequest& request, ReceiptDone done) {
  RunAsync(request, {OpOf(request), true}, std::move(done));
}

void Limiter::ChargeAsync(const CheckRequest& request, Done done) {
  RunAsync(request, {Op::kCharge}, WithoutReceipt(std::move(done)));
}

void Limiter::RefundAsync(const CheckRequest& request, Done done) {
  RunAsync(request, {Op::kRefund}, WithoutReceipt(std::move(done)));
}

void Limiter::RefundAsync(const CheckRequest& request, Receipt receipt, Done done) {
  RunAsync(request, RefundOf(receipt), WithoutReceipt(std::move(done)));
}

// False, with nothing done: the check is of another shape, or the store does not answer at once.
bool Limiter::TakeSingle(const CheckRequest& request, Decision& decision) {
  char key[kMaxKeyBytes];
  SingleTake take;
  if (kill_switch() || !options_valid_) return false;
  if (!MatchSingle(*keys_, request, key, take) || !store_.TakeNow({&take, 1})) return false;
  DecideSingle(take, decision);
  return true;
}

// An empty receipt gives back nothing: a look is all that is left to do.
Limiter::Call Limiter::RefundOf(const Receipt& receipt) {
  if (receipt.empty()) return {Op::kPeek};
  return {Op::kRefund, false, &receipt};
}

Decision Limiter::Run(const CheckRequest& request, Call call, Receipt* receipt) {
  Decision decision;
  Receipt charged;
  if (!AnswerNow(request, call, decision, charged)) {
    using Answer = std::pair<Decision, Receipt>;
    const auto waiter = std::make_shared<Waiter<Answer>>();
    Ask(call, [waiter](const Decision& answer, Receipt answer_receipt) {
      waiter->Complete({answer, std::move(answer_receipt)});
    });
    std::tie(decision, charged) = waiter->Wait();
  }
  if (receipt != nullptr) *receipt = std::move(charged);
  return decision;
}

void Limiter::RunAsync(const CheckRequest& request, Call call, ReceiptDone done) {
  Decision decision;
  Receipt charged;
  if (AnswerNow(request, call, decision, charged)) return done(decision, std::move(charged));
  Ask(call, std::move(done));
}

bool Limiter::AnswerNow(const CheckRequest& request, Call& call, Decision& decision,
                        Receipt& receipt) {
  const Result<void> matched = Match(request, call.op, call.lines);
  const bool of_these_lines =
      call.receipt == nullptr || call.receipt->stamps.size() == call.lines.size();
  const bool valid = matched.ok() && of_these_lines;
  if (AnswerAtOnce(kill_switch(), valid, call.lines, decision)) return true;
  Taken taken;
  if (!store_.TryNow(call.request(), taken)) return false;
  decision = Decide(call.lines, taken);
  receipt = std::move(taken.receipt);
  return true;
}

void Limiter::Ask(const Call& call, ReceiptDone done) {
  std::unique_ptr<Pending> pending(
      new Pending{{call.lines.begin(), call.lines.end()}, call.op, failover_, std::move(done)});
  store_.Run(call.request(), store_timeout_, [pending = std::move(pending)](Result<Taken> taken) {
    pending->Finish(std::move(taken));
  });
}

// Answers checks of the commonest shape, a group at a time, as far as there is nothing else among
// them; calls answer(i, take) for each, and tells how many.
template <typename Answer>
std::size_t Limiter::TakeSingles(std::span<const CheckRequest> requests, Answer answer) {
  if (kill_switch() || !options_valid_) return 0;
  char keys[kTakeGroup][kMaxKeyBytes];
  SingleTake takes[kTakeGroup];
  std::size_t answered = 0;
  while (answered < requests.size()) {  // stops: each turn answers at least one
    const std::size_t count = std::min(kTakeGroup, requests.size() - answered);
    for (std::size_t i = 0; i < count; ++i) {
      __builtin_prefetch(requests[answered + i].subject.data());
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!MatchSingle(*keys_, requests[answered + i], keys[i], takes[i])) return answered;
    }
    if (!store_.TakeNow({takes, count})) return answered;
    for (std::size_t i = 0; i < count; ++i) answer(answered + i, takes[i]);
    answered += count;
  }
  return answered;
}

void Limiter::CheckBatch(std::span<const CheckRequest> requests, std::span<Decision> decisions) {
  BRIM_ASSERT(requests.size() == decisions.size());
  const std::size_t answered = TakeSingles(requests, [&](std::size_t i, const SingleTake& take) {
    decisions[i] = {};
    DecideSingle(take, decisions[i]);
  });
  if (answered == requests.size()) return;
  const auto open = std::make_shared<OpenCalls>();
  const EachDone done = [open, decisions](std::size_t i, const Decision& decision) {
    decisions[i] = decision;
    open->End();
  };
  for (std::size_t first = answered; first < requests.size(); first += kBatchStep) {
    open->Wait(kBatchStep);  // one step is on its way while the store works on another
    open->Begin(std::min(kBatchStep, requests.size() - first));
    AskSome(requests, first, done);
  }
  open->Wait(0);
}

void Limiter::CheckBatchAsync(std::span<const CheckRequest> requests, const EachDone& done) {
  const std::size_t answered = TakeSingles(requests, [&](std::size_t i, const SingleTake& take) {
    Decision decision;
    DecideSingle(take, decision);
    done(i, decision);
  });
  for (std::size_t first = answered; first < requests.size(); first += kBatchStep) {
    AskSome(requests, first, done);
  }
}

// The lines of kBatchStep checks at a time, so that those of a long batch do not all lie in memory
// at once when the store answers at once.
void Limiter::AskSome(std::span<const CheckRequest> requests, std::size_t first,
                      const EachDone& done) {
  const auto asked = std::make_shared<Asked>();
  const std::size_t last = std::min(requests.size(), first + kBatchStep);
  std::size_t lines = 0;
  for (std::size_t i = first; i < last; ++i) {
    __builtin_prefetch(requests[i].subject.data());
    lines += requests[i].limits.size() + requests[i].items.size();
  }
  asked->lines.reserve(lines);
  for (std::size_t i = first; i < last; ++i) {
    const Op op = OpOf(requests[i]);
    CheckLines check;
    Decision decision;
    const bool valid = Match(requests[i], op, check).ok();
    if (AnswerAtOnce(kill_switch(), valid, check, decision)) {
      done(i, decision);
    } else {
      asked->Add(op, check, i);
    }
  }
  store_.RunBatch(asked->requests, store_timeout_,
                  [asked, failover = failover_, done](std::size_t i, Result<Taken> taken) {
                    const Request& request = asked->requests[i];
                    done(asked->index[i],
                         taken ? Decide(request.lines, *taken)
                               : failover->Answer(request.lines, request.op, taken.error()));
                  });
}

Result<std::int64_t> Limiter::Reset(const CheckRequest& request) {
  const auto waiter = std::make_shared<Waiter<Result<std::int64_t>>>();
  ResetAsync(request,
             [waiter](Result<std::int64_t> removed) { waiter->Complete(std::move(removed)); });
  return waiter->Wait();
}

void Limiter::ResetAsync(const CheckRequest& request, ResetDone done) {
  CheckLines lines;
  if (auto matched = Match(request, Op::kPeek, lines); !matched) return done(matched.error());
  std::vector<Key> keys;
  for (const Line& line : lines) keys.push_back(line.key);
  if (keys.empty()) return done(0);
  store_.Reset(keys, store_timeout_, std::move(done));
}

Result<void> Limiter::Validate(const CheckRequest& request) const {
  return Validate(request, OpOf(request));
}

Result<void> Limiter::Validate(const CheckRequest& request, Op op) const {
  CheckLines lines;
  return Match(request, op, lines);
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

Result<void> Limiter::Match(const CheckRequest& request, Op op, CheckLines& lines) const {
  if (!options_valid_) return options_valid_;
  return MatchLines(*keys_, request, op, lines);
}

}  // namespace brim

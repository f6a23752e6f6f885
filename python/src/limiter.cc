#include "limiter.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "completions.h"
#include "engine.h"
#include "errors.h"
#include "limits.h"

namespace nb = nanobind;

namespace brim::python {
namespace {

// Two Python classes that differ in what `check` asks and answers, and share the rest.
class RateLimiter final : public Engine {
 public:
  using Engine::Engine;

  // By value: a call that waits lets others in. Callers know a few limits and pass their numbers
  // each time, so the last ones are kept; GUARDED_BY(the GIL).
  Limit LimitOf(Units units, double window_seconds) {
    const std::size_t mixed = std::hash<Units>()(units) + std::hash<double>()(window_seconds);
    std::optional<Known>& known = known_[mixed % known_.size()];
    if (!known || known->units != units || known->window_seconds != window_seconds) {
      known =
          Known{units, window_seconds,
                ValueOrRaise(Limit::Create(
                    {.units = units, .window = FromSeconds(window_seconds, "window_seconds")}))};
    }
    return known->limit;
  }

 private:
  struct Known {
    Units units;
    double window_seconds;
    Limit limit;
  };
  std::array<std::optional<Known>, 8> known_;
};

class FullLimiter final : public Engine {
 public:
  using Engine::Engine;
};

OnFailure OnFailureOf(std::string_view word) {
  if (word == "local") return OnFailure::kLocal;
  if (word == "open") return OnFailure::kOpen;
  if (word == "closed") return OnFailure::kClosed;
  Raise({ErrorCode::kInvalid,
         "on_failure \"" + std::string(word) + "\" is unknown; one of: local, open, closed",
         "on_failure"});
}

template <typename T>
void Make(T* self, std::string_view store, std::shared_ptr<ManualClock> clock,
          std::string_view key_prefix, bool hash_tag, double store_timeout_ms,
          std::string_view on_failure, std::int64_t nodes, bool disabled) {
  const LimiterOptions limiter{
      .key_prefix = std::string(key_prefix),
      .hash_tag = hash_tag,
      .store_timeout = FromSeconds(store_timeout_ms / 1000, "store_timeout_ms"),
      .on_failure = OnFailureOf(on_failure),
      .nodes = nodes,
  };
  new (self) T(EngineOptions{std::string(store), std::move(clock), limiter, disabled});
}

template <typename T, typename Class>
void BindMake(Class& bound, const char* store, const char* default_store) {
  bound.def("__init__", &Make<T>, nb::arg(store) = default_store, nb::kw_only(),
            nb::arg("clock") = nb::none(), nb::arg("key_prefix") = "ratelimit",
            nb::arg("hash_tag") = false, nb::arg("store_timeout_ms") = 50.0,
            nb::arg("on_failure") = "local", nb::arg("nodes") = 1, nb::arg("disabled") = false);
}

// The whole seconds of a tuple, which has no word for never: the window says when to look again.
std::int64_t RetryAfterOf(const Decision& decision) {
  const Micros wait = decision.retry_after == kNever ? decision.window : decision.retry_after;
  return RetryAfterSeconds(wait).value_or(1);
}

nb::tuple CheckUnits(RateLimiter& engine, std::string_view subject, Units units,
                     double window_seconds, std::string_view scope) {
  const Limit limit = engine.LimitOf(units, window_seconds);
  const CheckRequest request{.subject = subject, .limits = {&limit, 1}, .scope = scope};
  const Decision decision = engine.Call([&](Limiter& limiter) { return limiter.Check(request); });
  if (decision.reason == Reason::kInvalidLimit) {
    Raise({ErrorCode::kInvalid, "user_id is empty; give the id of whom to limit", "user_id"});
  }
  return nb::make_tuple(decision.allowed(), decision.remaining, RetryAfterOf(decision));
}

enum class Asked { kCheck, kCheckWithReceipt, kCharge, kRefund };

Op OpOf(Asked asked, Units cost) {
  switch (asked) {
    case Asked::kCharge:
      return Op::kCharge;
    case Asked::kRefund:
      return Op::kRefund;
    case Asked::kCheck:
    case Asked::kCheckWithReceipt:
      break;
  }
  return cost == 0 ? Op::kPeek : Op::kTake;
}

// Says why the engine found that a request makes no sense. What Validate does not know is a receipt
// of another check.
[[noreturn]] void RaiseInvalid(Engine& engine, const CheckRequest& request, Asked asked) {
  const Result<void> valid = engine.CallAtOnce(
      [&](Limiter& limiter) { return limiter.Validate(request, OpOf(asked, request.cost)); });
  if (!valid) Raise(valid.error());
  Raise(
      {ErrorCode::kInvalid, "this receipt is of other limits; give those of its check", "receipt"});
}

using Answer = std::pair<Decision, Receipt>;

// `receipt` is that of a refund, used up by it; or null.
template <Asked asked>
Answer AskAndWait(Limiter& limiter, const CheckRequest& request, Receipt* receipt) {
  if constexpr (asked == Asked::kCheckWithReceipt) {
    Answer answer;
    answer.first = limiter.Check(request, answer.second);
    return answer;
  }
  if constexpr (asked == Asked::kCharge) return {limiter.Charge(request), Receipt{}};
  if constexpr (asked == Asked::kRefund) {
    if (receipt != nullptr) return {limiter.Refund(request, std::move(*receipt)), Receipt{}};
    return {limiter.Refund(request), Receipt{}};
  }
  return {limiter.Check(request), Receipt{}};
}

template <Asked asked>
void AskLater(Limiter& limiter, const CheckRequest& request, Receipt* receipt,
              Limiter::ReceiptDone done) {
  if constexpr (asked == Asked::kCheckWithReceipt) {
    return limiter.CheckAsync(request, std::move(done));
  }
  Limiter::Done without_receipt = [done = std::move(done)](const Decision& decision) mutable {
    done(decision, Receipt{});
  };
  if constexpr (asked == Asked::kCheck) limiter.CheckAsync(request, std::move(without_receipt));
  if constexpr (asked == Asked::kCharge) limiter.ChargeAsync(request, std::move(without_receipt));
  if constexpr (asked == Asked::kRefund) {
    if (receipt == nullptr) return limiter.RefundAsync(request, std::move(without_receipt));
    limiter.RefundAsync(request, std::move(*receipt), std::move(without_receipt));
  }
}

// A check alone, without what a receipt costs: the path that must be fast.
Decision Check(Engine& engine, std::string_view subject, nb::handle limits, Units cost,
               std::string_view scope) {
  const LimitsArgument read(limits);
  const CheckRequest request{subject, read.limits(), cost, scope};
  Decision decision = engine.Call([&](Limiter& limiter) { return limiter.Check(request); });
  if (decision.reason == Reason::kInvalidLimit) RaiseInvalid(engine, request, Asked::kCheck);
  return decision;
}

template <Asked asked>
Answer Ask(Engine& engine, std::string_view subject, nb::handle limits, Units cost,
           std::string_view scope, Receipt* receipt) {
  const LimitsArgument read(limits);
  const CheckRequest request{subject, read.limits(), cost, scope};
  // Taken while the GIL is held: another thread may have the same receipt in its hands.
  Receipt taken;
  if (receipt != nullptr) taken = std::move(*receipt);
  Answer answer = engine.Call([&](Limiter& limiter) {
    return AskAndWait<asked>(limiter, request, receipt == nullptr ? nullptr : &taken);
  });
  if (answer.first.reason == Reason::kInvalidLimit) RaiseInvalid(engine, request, asked);
  return answer;
}

Decision Peek(Engine& engine, std::string_view subject, nb::handle limits, std::string_view scope) {
  return Check(engine, subject, limits, 0, scope);
}

Answer CheckWithReceipt(Engine& engine, std::string_view subject, nb::handle limits, Units cost,
                        std::string_view scope) {
  return Ask<Asked::kCheckWithReceipt>(engine, subject, limits, cost, scope, nullptr);
}

Decision Charge(Engine& engine, std::string_view subject, nb::handle limits, Units cost,
                std::string_view scope) {
  return Ask<Asked::kCharge>(engine, subject, limits, cost, scope, nullptr).first;
}

Decision Refund(Engine& engine, std::string_view subject, nb::handle limits, Units cost,
                std::string_view scope, Receipt* receipt) {
  return Ask<Asked::kRefund>(engine, subject, limits, cost, scope, receipt).first;
}

std::int64_t Reset(Engine& engine, std::string_view subject, nb::handle limits,
                   std::string_view scope) {
  const LimitsArgument read(limits);
  const CheckRequest request{.subject = subject, .limits = read.limits(), .scope = scope};
  return ValueOrRaise(engine.Call([&](Limiter& limiter) { return limiter.Reset(request); }));
}

// One (subject, limits, cost, scope) of a batch.
struct BatchItem {
  explicit BatchItem(nb::handle item)
      : parts(nb::cast<nb::tuple>(item)), limits(nb::object(parts[1])) {}
  CheckRequest request() const {
    return {nb::cast<std::string_view>(parts[0]), limits.limits(), nb::cast<Units>(parts[2]),
            nb::cast<std::string_view>(parts[3])};
  }
  const nb::tuple parts;
  const LimitsArgument limits;
};

std::vector<Decision> CheckBatch(Engine& engine, nb::sequence checks) {
  std::vector<std::unique_ptr<const BatchItem>> items;
  std::vector<CheckRequest> requests;
  for (const nb::handle check : checks) {
    items.push_back(std::make_unique<const BatchItem>(check));
    requests.push_back(items.back()->request());
  }
  std::vector<Decision> decisions(requests.size());
  engine.Call([&](Limiter& limiter) { limiter.CheckBatch(requests, decisions); });
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (decisions[i].reason != Reason::kInvalidLimit) continue;
    RaiseInvalid(engine, requests[i], Asked::kCheck);
  }
  return decisions;
}

// The call that this thread is inside of, for an answer that comes before it returns.
struct Inside {
  const Completions* completions;
  std::uint64_t number;
  std::optional<Answer> answer;
};
thread_local Inside* inside = nullptr;

void Deliver(Completions& completions, std::uint64_t number, const Decision& decision,
             Receipt receipt) {
  if (inside != nullptr && inside->completions == &completions && inside->number == number) {
    inside->answer.emplace(decision, std::move(receipt));
  } else {
    completions.Add(number, decision, std::move(receipt));
  }
}

// Asks without waiting. Returns (decision, receipt) if the engine answered inside the call, else
// None: then the answer comes through `completions`, under this number.
template <Asked asked>
nb::object Start(Engine& engine, const CompletionsRef& ref, std::uint64_t number,
                 std::string_view subject, nb::handle limits, Units cost, std::string_view scope,
                 Receipt* receipt) {
  const LimitsArgument read(limits);
  const CheckRequest request{subject, read.limits(), cost, scope};
  Inside here{ref.shared.get(), number, std::nullopt};
  engine.CallAtOnce([&](Limiter& limiter) {
    inside = &here;
    AskLater<asked>(limiter, request, receipt,
                    [completions = ref.shared, number](const Decision& decision, Receipt charged) {
                      Deliver(*completions, number, decision, std::move(charged));
                    });
    inside = nullptr;
  });
  if (!here.answer) return nb::none();
  auto& [decision, charged] = *here.answer;
  if (decision.reason == Reason::kInvalidLimit) RaiseInvalid(engine, request, asked);
  return nb::make_tuple(decision, std::move(charged));
}

template <Asked asked, typename Class>
void BindStart(Class& bound, const char* name) {
  bound.def(name, &Start<asked>, nb::arg("completions"), nb::arg("number"), nb::arg("subject"),
            nb::arg("limits"), nb::arg("cost"), nb::arg("scope"), nb::arg("receipt") = nb::none());
}

}  // namespace

void BindLimiters(nb::module_& module) {
  nb::class_<RateLimiter, Engine> rate_limiter(module, "RateLimiter");
  BindMake<RateLimiter>(rate_limiter, "redis_url", "redis://localhost:6379/0");
  rate_limiter.def("check", &CheckUnits, nb::arg("user_id"), nb::arg("limit"),
                   nb::arg("window_seconds"), nb::arg("scope") = "");

  nb::class_<FullLimiter, Engine> limiter(module, "Limiter");
  BindMake<FullLimiter>(limiter, "store", "memory://");
  limiter
      .def("check", &Check, nb::arg("subject"), nb::arg("limits"), nb::arg("cost") = 1,
           nb::arg("scope") = "")
      .def("check_with_receipt", &CheckWithReceipt, nb::arg("subject"), nb::arg("limits"),
           nb::arg("cost") = 1, nb::arg("scope") = "")
      .def("peek", &Peek, nb::arg("subject"), nb::arg("limits"), nb::arg("scope") = "")
      .def("charge", &Charge, nb::arg("subject"), nb::arg("limits"), nb::arg("cost") = 1,
           nb::arg("scope") = "")
      .def("refund", &Refund, nb::arg("subject"), nb::arg("limits"), nb::arg("cost") = 1,
           nb::arg("scope") = "", nb::arg("receipt") = nb::none())
      .def("reset", &Reset, nb::arg("subject"), nb::arg("limits"), nb::arg("scope") = "")
      .def("check_batch", &CheckBatch, nb::arg("checks"));
  BindStart<Asked::kCheck>(limiter, "start_check");
  BindStart<Asked::kCheckWithReceipt>(limiter, "start_check_with_receipt");
  BindStart<Asked::kCharge>(limiter, "start_charge");
  BindStart<Asked::kRefund>(limiter, "start_refund");
}

}  // namespace brim::python

#include "decision.h"

#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <brim/decision.h>
#include <brim/store.h>
#include "limits.h"

namespace nb = nanobind;

namespace brim::python {
namespace {

std::optional<std::string_view> StoreErrorOf(const Decision& decision) {
  if (decision.store_error == StoreError::kNone) return std::nullopt;
  return StoreErrorName(decision.store_error);
}

std::optional<std::string> WindowOf(const Decision& decision) {
  if (decision.window == Micros{0}) return std::nullopt;
  return WindowName(decision.window);
}

std::optional<double> WindowSecondsOf(const Decision& decision) {
  if (decision.window == Micros{0}) return std::nullopt;
  return ToSeconds(decision.window);
}

std::int64_t Seconds(Micros duration) { return RetryAfterSeconds(duration).value_or(0); }
std::int64_t Millis(Micros duration) { return RetryAfterMillis(duration).value_or(0); }

std::string Describe(const Decision& decision) {
  std::string text = decision.allowed() ? "Decision(allowed" : "Decision(limited";
  text.append(", ").append(ReasonName(decision.reason));
  text += ", limit=" + std::to_string(decision.limit);
  text += ", remaining=" + std::to_string(decision.remaining);
  const std::optional<std::int64_t> retry_after = RetryAfterSeconds(decision.retry_after);
  text += ", retry_after=" + (retry_after ? std::to_string(*retry_after) : "None");
  return text + ")";
}

}  // namespace

void BindDecision(nb::module_& module) {
  nb::class_<LineDecision>(module, "LineDecision")
      .def_prop_ro("limit", [](const LineDecision& line) { return line.limit; })
      .def_ro("cost", &LineDecision::cost)
      .def_prop_ro("fits", [](const LineDecision& line) { return line.fit == Fit::kFits; })
      .def_prop_ro("would_deny", &LineDecision::would_deny)
      .def_ro("remaining", &LineDecision::remaining)
      .def_prop_ro("retry_after",
                   [](const LineDecision& line) { return RetryAfterSeconds(line.retry_after); })
      .def_prop_ro("retry_after_ms",
                   [](const LineDecision& line) { return RetryAfterMillis(line.retry_after); })
      .def_prop_ro("reset_after_ms",
                   [](const LineDecision& line) { return Millis(line.reset_after); });

  nb::class_<Decision>(module, "Decision")
      .def_prop_ro("allowed", &Decision::allowed)
      .def("__bool__", &Decision::allowed)
      .def_prop_ro("reason", [](const Decision& decision) { return ReasonName(decision.reason); })
      .def_prop_ro("store_error", &StoreErrorOf)
      .def_ro("limit", &Decision::limit)
      .def_ro("remaining", &Decision::remaining)
      .def_prop_ro("window", &WindowOf)
      .def_prop_ro("window_seconds", &WindowSecondsOf)
      .def_prop_ro("retry_after",
                   [](const Decision& decision) { return RetryAfterSeconds(decision.retry_after); })
      .def_prop_ro("retry_after_ms",
                   [](const Decision& decision) { return RetryAfterMillis(decision.retry_after); })
      .def_prop_ro("reset_after",
                   [](const Decision& decision) { return Seconds(decision.reset_after); })
      .def_prop_ro("reset_after_ms",
                   [](const Decision& decision) { return Millis(decision.reset_after); })
      .def_prop_ro("lines",
                   [](const Decision& decision) {
                     return std::vector(decision.lines.begin(), decision.lines.end());
                   })
      .def("__repr__", &Describe);

  nb::class_<Receipt>(module, "Receipt").def("__bool__", [](const Receipt& receipt) {
    return !receipt.empty();
  });
}

}  // namespace brim::python

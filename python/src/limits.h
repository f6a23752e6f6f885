// Limits as Python passes them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <nanobind/nanobind.h>

#include <brim/limit.h>
#include "door/http_answer.h"

namespace brim::python {

// A list of limits that is read once and used often (Python: Limits). Immutable.
class LimitList {
 public:
  explicit LimitList(std::vector<Limit> limits) : limits_(std::move(limits)), policy_(limits_) {}

  std::span<const Limit> limits() const { return limits_; }
  const door::PolicyHeader& policy() const { return policy_; }

 private:
  const std::vector<Limit> limits_;
  const door::PolicyHeader policy_;
};

// The argument `limits` of a call: a Limits, a Limit, a text, or a sequence of the last two. What
// it names stays alive with it and with the argument, without the GIL too.
class LimitsArgument {
 public:
  // Raises InvalidArgument for a text that is no limit, TypeError for anything else.
  explicit LimitsArgument(nanobind::handle argument);
  LimitsArgument(const LimitsArgument&) = delete;
  LimitsArgument& operator=(const LimitsArgument&) = delete;

  std::span<const Limit> limits() const { return limits_; }

 private:
  std::shared_ptr<const LimitList> parsed_;
  std::vector<Limit> collected_;
  std::span<const Limit> limits_;
};

// Whole microseconds of an argument in seconds; raises InvalidArgument with this field.
Micros FromSeconds(double seconds, const char* field);
double ToSeconds(Micros duration);

void BindLimits(nanobind::module_& module);

}  // namespace brim::python

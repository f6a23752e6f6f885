// Limits as Python passes them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <brim/limit.h>

namespace brim::python {

// A list of limits that is read once and used often (Python: Limits). Immutable.
class LimitList {
 public:
  explicit LimitList(std::vector<Limit> limits);

  std::span<const Limit> limits() const { return limits_; }
  const std::string& policy() const { return policy_; }  // the value of RateLimit-Policy

 private:
  const std::vector<Limit> limits_;
  const std::string policy_;
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

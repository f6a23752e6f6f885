// Which limits of which subject /v1/limits/SUBJECT?tier=...&limits=...&scope=... is about.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brim/limiter.h>
#include <brim/result.h>
#include "door/served_policy.h"

namespace brim::door {

// Holds what its CheckRequest views.
class LimitsQuery {
 public:
  // `subject` and `query` are percent-encoded; the limits are those given, else the tier's, else
  // the default tier's. kInvalid, with the parameter as field. The policy must outlive it.
  static Result<LimitsQuery> Parse(std::string_view subject, std::string_view query,
                                   const ServedPolicy& policy);

  // A look: its cost is 0.
  CheckRequest request() const;

 private:
  std::string subject_;
  std::string scope_;
  std::vector<Limit> limits_;
  std::span<const LimitItem> items_;
};

}  // namespace brim::door

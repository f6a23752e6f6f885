// What Prometheus reads. No name of a client is ever a label.
#pragma once

#include <string>

#include "door/decision_counters.h"
#include "door/policy_control.h"
#include "door/served_policy.h"

namespace brim::door {

struct MetricsSource {
  DecisionCounters::Counts decisions;
  PolicyControl::Status reloads;
  bool kill_switch = false;
  bool store_up = false;
  bool draining = false;
};

// The text format, version 0.0.4.
std::string MetricsText(const MetricsSource& source, const PolicySet& policy);

}  // namespace brim::door

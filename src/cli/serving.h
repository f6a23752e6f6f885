// What `brim demo` and `brim serve` have in common: the shards, the doors, their listeners, and the
// snapshot of the policy that all of them serve.
#pragma once

#include <chrono>
#include <string>

#include <brim/limiter.h>
#include <brim/result.h>
#include "cli/file_watch.h"
#include "cli/signals.h"
#include "door/admin/admin.h"
#include "door/decision_api/decision_api.h"
#include "door/decision_counters.h"
#include "door/gateway/gateway.h"
#include "door/policy_control.h"
#include "door/served_policy.h"
#include "door/store_watch.h"
#include "net/http_server.h"

namespace brim::cli {

// One event loop a core, or as many as asked for (0: not).
std::size_t ShardCount(std::size_t asked);

// Where to listen; an empty address: not at all.
struct ListenArgs {
  std::string api;
  std::string gateway;
  std::string admin;
};

// Used by the main thread alone.
class Serving {
 public:
  // The store must be of these shards; both are the caller's until the Serving has stopped.
  Serving(net::Shards& shards, Store& store, LimiterOptions options,
          door::ServedPolicyHolder::Pointer policy, door::PolicyControl::Load load);

  // kInvalid: an address that cannot be had, and the remedy.
  Result<void> Listen(const ListenArgs& args);
  void Start();
  // Returns at a signal to end. Loads the policy anew at a SIGHUP, when one of its files was
  // replaced, and when an operator asks for it.
  void Serve(Signals& signals, FileWatch& watch);
  // /readyz says 503 for `delay`; then connections are drained.
  void Stop(std::chrono::milliseconds delay);

  // REQUIRES: Listen had an address for it.
  std::string gateway_address() const { return gateway_server_.addresses().front(); }

 private:
  static constexpr auto kLookAgain = std::chrono::seconds(1);

  void LookAtLostStore();

  net::Shards& shards_;
  Store& store_;
  Limiter limiter_;
  door::ServedPolicyHolder policies_;
  door::PolicyControl control_;
  door::DecisionCounters counters_;
  door::StoreWatch watch_;
  door::DecisionApi api_;
  door::Gateway gateway_;
  door::Admin admin_;
  net::HttpServer api_server_;
  net::HttpServer gateway_server_;
  net::HttpServer admin_server_;
};

}  // namespace brim::cli

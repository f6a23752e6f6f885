// The admin listener: what operators and their monitors ask. It changes nothing and reveals no key.
//   /healthz  200 while the process serves
//   /readyz   asks the store: 200, or 503 when it gives no answer
//   /metrics  Prometheus text
// While the store gives no answer checks follow the failure policy.
#pragma once

#include <string>

#include <brim/limiter.h>
#include "door/decision_counters.h"
#include "door/store_watch.h"
#include "net/http.h"

namespace brim::door {

// Borrows what it is given; all of it, and the Admin, must outlive every answer under way.
// Thread-safe.
class Admin final : public net::HttpHandler {
 public:
  Admin(Limiter& limiter, const DecisionCounters& counters, StoreWatch& watch)
      : limiter_(limiter), counters_(counters), watch_(watch) {}

  net::HttpNext Handle(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause) override;

 private:
  net::HttpNext Ready(net::HttpResponse& response, net::HttpPause& pause);
  std::string Metrics() const;

  Limiter& limiter_;
  const DecisionCounters& counters_;
  StoreWatch& watch_;
};

}  // namespace brim::door

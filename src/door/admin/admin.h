// The admin listener: what operators and their monitors ask.
//   /healthz             200 while the process serves
//   /readyz[?verbose]    asks the store: 200, or 503 when it gives no answer
//   /metrics             Prometheus text
//   /v1/limits/SUBJECT?tier=...&limits=...&scope=...  GET looks, DELETE forgets what was used
//   /v1/kill-switch      GET and PUT {"on": true}
//   /v1/modes/NAME       GET and PUT {"mode": "shadow"}, of a tier or route
//   /v1/reload           POST: reads the configuration anew
// What reveals a subject or changes anything needs the listener's token. While the store gives no
// answer checks follow the failure policy.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include <brim/limiter.h>
#include "door/decision_counters.h"
#include "door/policy_control.h"
#include "door/served_policy.h"
#include "door/store_watch.h"
#include "net/http.h"

namespace brim::door {

// Borrows what it is given; all of it, and the Admin, must outlive every answer under way.
// Thread-safe.
class Admin final : public net::HttpHandler {
 public:
  Admin(const ServedPolicyHolder& policies, Limiter& limiter, const DecisionCounters& counters,
        StoreWatch& watch, PolicyControl& control)
      : policies_(policies),
        limiter_(limiter),
        counters_(counters),
        watch_(watch),
        control_(control) {}

  // From now on /readyz says 503, so that balancers send requests elsewhere.
  void SetDraining() { draining_ = true; }

  net::HttpNext Handle(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause) override;

 private:
  using Answer = net::HttpNext (Admin::*)(const net::HttpRequest&, net::HttpResponse&,
                                          net::HttpPause&);
  struct Page {
    std::string_view path;  // a prefix if it ends in '/'
    std::string_view methods;
    bool needs_token;
    Answer answer;
  };
  static const Page kPages[];
  static const Page* FindPage(std::string_view path);

  // Whether the response says why not.
  bool Refuses(const Page& page, const net::HttpRequest& request,
               net::HttpResponse& response) const;
  net::HttpNext Healthz(const net::HttpRequest& request, net::HttpResponse& response,
                        net::HttpPause& pause);
  net::HttpNext Readyz(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause);
  net::HttpNext Metrics(const net::HttpRequest& request, net::HttpResponse& response,
                        net::HttpPause& pause);
  net::HttpNext Limits(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause);
  net::HttpNext KillSwitch(const net::HttpRequest& request, net::HttpResponse& response,
                           net::HttpPause& pause);
  net::HttpNext Modes(const net::HttpRequest& request, net::HttpResponse& response,
                      net::HttpPause& pause);
  net::HttpNext Reload(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause);

  const ServedPolicyHolder& policies_;
  Limiter& limiter_;
  const DecisionCounters& counters_;
  StoreWatch& watch_;
  PolicyControl& control_;
  std::atomic<bool> draining_{false};
};

}  // namespace brim::door

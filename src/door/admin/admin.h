// The admin listener: what operators and their monitors ask.
//   /healthz             200 while the process serves
//   /readyz[?verbose]    asks the store: 200, or 503 when it gives no answer
//   /metrics             Prometheus text
//   /v1/limits/SUBJECT?tier=...&limits=...&scope=...  GET looks, DELETE forgets what was used
// What reveals a subject or changes anything needs the listener's token. While the store gives no
// answer checks follow the failure policy.
#pragma once

#include <string>
#include <string_view>

#include <brim/limiter.h>
#include "door/decision_counters.h"
#include "door/served_policy.h"
#include "door/store_watch.h"
#include "net/http.h"

namespace brim::door {

// Borrows what it is given; all of it, and the Admin, must outlive every answer under way.
// Thread-safe.
class Admin final : public net::HttpHandler {
 public:
  Admin(const ServedPolicyHolder& policies, Limiter& limiter, const DecisionCounters& counters,
        StoreWatch& watch)
      : policies_(policies), limiter_(limiter), counters_(counters), watch_(watch) {}

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

  const ServedPolicyHolder& policies_;
  Limiter& limiter_;
  const DecisionCounters& counters_;
  StoreWatch& watch_;
};

}  // namespace brim::door

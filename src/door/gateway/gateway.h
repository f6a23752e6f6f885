// The gateway: what clients of an API reach. Serves its routes and nothing else; each request of a
// route is checked against the route's limits, and those of the client's tier where the route says
// so, before it is answered. Only a valid request is charged.
#pragma once

#include <string_view>

#include <brim/limiter.h>
#include "door/decision_counters.h"
#include "door/http_answer.h"
#include "door/served_policy.h"
#include "door/store_watch.h"
#include "net/http.h"

namespace brim::door {

// Borrows what it is given; all of it, and the Gateway, must outlive every answer under way.
// Thread-safe.
class Gateway final : public net::HttpHandler {
 public:
  Gateway(const ServedPolicyHolder& policies, Limiter& limiter, DecisionCounters& counters,
          StoreWatch& watch)
      : policies_(policies), limiter_(limiter), counters_(counters), watch_(watch) {}

  net::HttpNext Handle(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause) override;

 private:
  net::HttpNext Check(const PreparedCheck& prepared, std::string_view subject,
                      const AnswerForm& form, net::HttpResponse& response, net::HttpPause& pause);

  const ServedPolicyHolder& policies_;
  Limiter& limiter_;
  DecisionCounters& counters_;
  StoreWatch& watch_;
};

}  // namespace brim::door

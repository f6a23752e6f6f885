// The gateway: what clients of an API reach. Serves its routes and nothing else; each request of a
// route is checked against the route's limits before it is answered. Only a valid request is
// charged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <brim/limit.h>
#include <brim/limiter.h>
#include <brim/result.h>
#include "door/decision_counters.h"
#include "door/gateway/respond.h"
#include "door/http_answer.h"
#include "door/store_watch.h"
#include "net/http.h"

namespace brim::door {

struct Route {
  std::string name;  // also the scope of its limits
  std::string path;  // matched exactly; a prefix if it ends in '/'. The longest match wins.
  std::vector<Limit> limits;
  DenyBody deny = DenyBody::kMessage;
  RespondTemplate respond;
};

// Who the client is: the header X-Client-Id, else its address, else "anonymous". Views into the
// request. kInvalid, field "X-Client-Id": it is there more than once.
Result<std::string_view> Identify(const net::HttpRequest& request);

// Borrows what it is given; all of it, and the Gateway, must outlive every answer under way.
// Thread-safe.
class Gateway final : public net::HttpHandler {
 public:
  // REQUIRES: route names and paths are distinct.
  Gateway(std::vector<Route> routes, Limiter& limiter, DecisionCounters& counters,
          StoreWatch& watch);

  net::HttpNext Handle(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause) override;

 private:
  struct Served {
    Route route;
    std::string_view scope;  // empty for plain keys, which have no room for one
    PolicyHeader policy;
  };
  const Served* Find(std::string_view path) const;
  net::HttpNext Check(const Served& served, std::string_view subject, net::HttpResponse& response,
                      net::HttpPause& pause);
  void Answer(const Served& served, const Decision& decision, net::HttpResponse& response);

  std::vector<Served> routes_;  // longest path first
  Limiter& limiter_;
  DecisionCounters& counters_;
  StoreWatch& watch_;
};

}  // namespace brim::door

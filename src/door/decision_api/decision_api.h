// The decision API: what services and gateways ask, never the clients of an API themselves.
//   POST /v1/check   charges a check, or a batch of them; cost 0 looks
//   POST /v1/refund  gives back, POST /v1/charge charges past the limit; likewise
//   /v1/auth, /v1/auth/...  any method: the limits of the client's tier, for gateways that pass a
//                    client's request by: 200 without a body, or the refusal
// docs/http-api.md is its manual.
#pragma once

#include <cstddef>
#include <span>

#include <brim/limiter.h>
#include "door/decision_api/check_body.h"
#include "door/decision_counters.h"
#include "door/served_policy.h"
#include "door/store_watch.h"
#include "net/http.h"

namespace brim::door {

// Borrows what it is given; all of it, and the DecisionApi, must outlive every answer under way.
// Thread-safe.
class DecisionApi final : public net::HttpHandler {
 public:
  DecisionApi(const ServedPolicyHolder& policies, Limiter& limiter, DecisionCounters& counters,
              StoreWatch& watch)
      : policies_(policies), limiter_(limiter), counters_(counters), watch_(watch) {}

  net::HttpNext Handle(const net::HttpRequest& request, net::HttpResponse& response,
                       net::HttpPause& pause) override;

 private:
  struct Batch;

  net::HttpNext AnswerBody(const ServedPolicy& policy, Op op, const net::HttpRequest& request,
                           net::HttpResponse& response, net::HttpPause& pause);
  net::HttpNext AnswerOne(const ServedPolicy& policy, Op op, const Result<CheckBody>& check,
                          net::HttpResponse& response, net::HttpPause& pause);
  net::HttpNext AnswerBatch(const ServedPolicy& policy, Op op,
                            std::span<const Result<CheckBody>> checks, net::HttpResponse& response,
                            net::HttpPause& pause);
  bool AddAnswer(Batch& batch, std::size_t i, const Decision& decision);
  net::HttpNext AnswerGateway(const ServedPolicy& policy, const net::HttpRequest& request,
                              net::HttpResponse& response, net::HttpPause& pause);
  // Charges and refunds are answers too, but they decide nothing.
  void Note(Op op, const Decision& decision);

  const ServedPolicyHolder& policies_;
  Limiter& limiter_;
  DecisionCounters& counters_;
  StoreWatch& watch_;
};

}  // namespace brim::door

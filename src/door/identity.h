// Who a client is, as the configuration tells it from a request.
#pragma once

#include <string_view>

#include <brim/result.h>
#include "net/http.h"
#include "policy/policy_set.h"

namespace brim::door {

// Views into the request and the policy.
struct Identity {
  std::string_view subject;
  std::string_view tier;  // empty: the default one
};

// kInvalid, with the header as field: it is there more than once.
Result<Identity> Identify(const net::HttpRequest& request, const PolicySet& policy);

}  // namespace brim::door

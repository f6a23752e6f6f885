// Who a client is and which tier it has, as the configuration tells them from a request. Every door
// that clients reach asks here.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <brim/result.h>
#include "base/ip_address.h"
#include "net/http.h"
#include "policy/policy_set.h"

namespace brim::door {

// A plain value, good as long as the request and the policy.
class Identity {
 public:
  explicit Identity(std::string_view subject) : given_(subject) {}
  // The subject is the address's text; of an IPv6 address its first `ipv6_prefix` bits.
  Identity(const IpAddress& address, int ipv6_prefix);

  std::string_view subject() const {
    return size_ == 0 ? given_ : std::string_view(text_.data(), size_);
  }
  std::string_view tier() const { return tier_; }  // empty: the default one
  void set_tier(std::string_view tier) { tier_ = tier; }

 private:
  std::string_view given_;
  std::string_view tier_;
  std::array<char, 46> text_;  // as long as an address gets; not initialised
  std::size_t size_ = 0;
};

// kInvalid: a header that should be there once comes twice (the field is its name); or no source of
// a subject is present (the field is "identity"). Allocates nothing unless it looks up an API key.
Result<Identity> Identify(const net::HttpRequest& request, const PolicySet& policy);

// Turns the response into the answer to an Error of Identify: 400, or 401 without an identity.
void AnswerUnidentified(const Error& error, net::HttpResponse& response);

}  // namespace brim::door

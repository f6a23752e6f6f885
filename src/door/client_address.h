// Whose request it is, by address: the peer's, or the one that trusted proxies name.
#pragma once

#include <optional>

#include "base/ip_address.h"
#include "net/http.h"
#include "policy/policy_set.h"

namespace brim::door {

// Whether the peer is one of the trusted proxies.
bool IsFromTrustedProxy(const net::HttpRequest& request, const PolicySet& policy);

// Walks from the peer through the policy's proxy header, from right to left (several header lines
// are one list), as long as each address is a trusted proxy. The first that is not is the client;
// what stands to its left the client may have written itself. What is no address ends the walk at
// the proxy that passed it on; so does the end of the list, and kMaxForwardedHops. nullopt: the
// peer has no address (a unix socket), and no trusted proxy named one.
std::optional<IpAddress> ClientAddress(const net::HttpRequest& request, const PolicySet& policy);

// "X-Forwarded-For" or "Forwarded".
std::string_view ProxyHeaderName(ProxyHeader header);

}  // namespace brim::door

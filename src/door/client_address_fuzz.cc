// Any header values from any peer: no crash; an untrusted peer is always itself, and what a trusted
// one appends to whatever a client wrote is the client. An address has one text.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/limits.h"
#include "door/client_address.h"

namespace brim::door {
namespace {

PolicySet Trusting(ProxyHeader header) {
  PolicySet set = DefaultPolicySet();
  set.trusted_proxies = {*Cidr::Parse("10.0.0.0/8")};
  set.identity.proxy_header = header;
  return set;
}

std::optional<IpAddress> Ask(const PolicySet& policy, std::string_view peer,
                             const std::vector<net::HttpHeader>& headers) {
  return ClientAddress({.method = "GET",
                        .path = "/",
                        .query = {},
                        .headers = headers,
                        .body = {},
                        .peer_address = peer},
                       policy);
}

void Fuzz(std::string_view text) {
  for (const ProxyHeader header : {ProxyHeader::kXForwardedFor, ProxyHeader::kForwarded}) {
    const PolicySet policy = Trusting(header);
    const std::string_view name = ProxyHeaderName(header);
    const std::size_t half = text.size() / 2;
    const std::vector<net::HttpHeader> lines = {{name, text.substr(0, half)},
                                                {name, text.substr(half)}};
    BRIM_ASSERT(Ask(policy, "203.0.113.9", lines) == IpAddress::Parse("203.0.113.9"));
    const auto client = Ask(policy, "10.0.0.1", lines);
    BRIM_ASSERT(client.has_value());
    // Whatever the client wrote, what a proxy appends in a line of its own is the client.
    std::vector<net::HttpHeader> appended = lines;
    appended.push_back({name, header == ProxyHeader::kForwarded ? "for=\"[2001:db8::1]:80\""
                                                                : "[2001:db8::1]:80"});
    BRIM_ASSERT(Ask(policy, "10.0.0.1", appended) == IpAddress::Parse("2001:db8::1"));
    if (header != ProxyHeader::kXForwardedFor) continue;
    const std::string same_line = std::string(text) + ", 198.51.100.1";
    BRIM_ASSERT(Ask(policy, "10.0.0.1", {{name, same_line}}) == IpAddress::Parse("198.51.100.1"));
  }
  // An address has one text, and that text is the address.
  if (const auto address = IpAddress::Parse(text)) {
    BRIM_ASSERT(IpAddress::Parse(address->ToString()) == address);
    BRIM_ASSERT(address->Masked(address->bits()) == *address);
  }
  if (const auto network = Cidr::Parse(text)) {
    BRIM_ASSERT(Cidr::Parse(network->ToString()) == network);
  }
}

}  // namespace
}  // namespace brim::door

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  brim::door::Fuzz(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

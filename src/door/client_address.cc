#include "door/client_address.h"

#include <algorithm>
#include <string_view>

#include <brim/static_vector.h>
#include "base/limits.h"
#include "net/ascii.h"

namespace brim::door {
namespace {

constexpr std::string_view kUnixPeer = "unix";

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// An address as proxies write it: with or without a port, an IPv6 one with or without brackets.
std::optional<IpAddress> ParseNode(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view behind = text.substr(close + 1);
    if (!behind.empty() && !(behind.front() == ':' && IsPort(behind.substr(1))))
      return std::nullopt;
    const auto address = IpAddress::Parse(text.substr(1, close - 1));
    return text.find(':') < close ? address : std::nullopt;  // brackets are for IPv6
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return IpAddress::Parse(text);
  }
  if (!IsPort(text.substr(colon + 1))) return std::nullopt;
  return IpAddress::Parse(text.substr(0, colon));
}

using Nodes = StaticVector<std::string_view, limits::kMaxForwardedHops>;

// The items of an X-Forwarded-For line from the right, at most as many as the walk may go.
Nodes NodesOfForwardedFor(std::string_view line) {
  Nodes nodes;
  while (!nodes.full()) {  // stops: each turn drops an item, or there is none left
    const std::size_t comma = line.rfind(',');
    const std::string_view item = Trim(line.substr(comma + 1));  // npos + 1 is 0
    if (!item.empty()) nodes.push_back(item);
    if (comma == std::string_view::npos) break;
    line = line.substr(0, comma);
  }
  return nodes;
}

// A Forwarded line (RFC 7239), read strictly from the left: quotes may hide commas, so that no
// other end can be trusted. A mistake anywhere makes the whole line nothing.
class ForwardedReader {
 public:
  explicit ForwardedReader(std::string_view line) : rest_(line) {}

  // The `for` of each element, from the right; an element without one is an empty item. nullopt: no
  // such line.
  std::optional<Nodes> Read() {
    Nodes nodes;
    do {
      SkipSpace();
      if (rest_.empty() || rest_.front() == ',') continue;  // lists may have empty elements
      if (nodes.full()) return std::nullopt;
      nodes.push_back({});
      if (!ReadElement(nodes.back())) return std::nullopt;
    } while (Skip(','));
    if (!rest_.empty()) return std::nullopt;
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
  }

 private:
  bool ReadElement(std::string_view& node) {
    do {
      const std::string_view name = TakeToken();
      std::string_view value;
      if (name.empty() || !Skip('=') || !ReadValue(value)) return false;
      if (net::EqualsIgnoringCase(name, "for")) {
        if (!node.empty()) return false;
        node = value;
      }
      SkipSpace();
    } while (Skip(';') && (SkipSpace(), true));
    return true;
  }

  bool ReadValue(std::string_view& value) {
    if (!Skip('"')) {
      value = TakeToken();
      return !value.empty();
    }
    const std::size_t close = rest_.find_first_of("\"\\");  // no address needs a backslash
    if (close == std::string_view::npos || rest_[close] == '\\') return false;
    value = rest_.substr(0, close);
    rest_.remove_prefix(close + 1);
    return !value.empty();
  }

  std::string_view TakeToken() {
    std::size_t size = 0;
    while (size < rest_.size() && net::IsToken(rest_.substr(size, 1))) ++size;
    const std::string_view token = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return token;
  }
  bool Skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipSpace() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

bool IsTrusted(const IpAddress& address, const PolicySet& policy) {
  return std::any_of(policy.trusted_proxies.begin(), policy.trusted_proxies.end(),
                     [&address](const Cidr& network) { return network.Contains(address); });
}

// Goes on from a trusted proxy through what one header line names. False: the walk has ended.
class Walk {
 public:
  Walk(const PolicySet& policy, std::optional<IpAddress> from) : policy_(policy), at_(from) {}

  bool Through(const Nodes& nodes) {
    for (const std::string_view node : nodes) {
      if (++hops_ > limits::kMaxForwardedHops) return false;
      const auto address = ParseNode(node);
      if (!address) return false;
      at_ = address;
      if (!IsTrusted(*address, policy_)) return false;
    }
    return true;
  }
  const std::optional<IpAddress>& at() const { return at_; }

 private:
  const PolicySet& policy_;
  std::optional<IpAddress> at_;
  std::size_t hops_ = 0;
};

std::optional<IpAddress> PeerAddress(const net::HttpRequest& request) {
  return IpAddress::Parse(request.peer_address);
}

bool IsTrustedPeer(const net::HttpRequest& request, const std::optional<IpAddress>& peer,
                   const PolicySet& policy) {
  if (peer) return IsTrusted(*peer, policy);
  return policy.trusts_unix && request.peer_address == kUnixPeer;
}

}  // namespace

bool IsFromTrustedProxy(const net::HttpRequest& request, const PolicySet& policy) {
  if (policy.trusted_proxies.empty() && !policy.trusts_unix) return false;
  return IsTrustedPeer(request, PeerAddress(request), policy);
}

std::optional<IpAddress> ClientAddress(const net::HttpRequest& request, const PolicySet& policy) {
  const auto peer = PeerAddress(request);
  if (!IsTrustedPeer(request, peer, policy)) return peer;
  const ProxyHeader header = policy.identity.proxy_header;
  Walk walk(policy, peer);
  for (auto line = request.headers.rbegin(); line != request.headers.rend(); ++line) {
    if (!net::EqualsIgnoringCase(line->name, ProxyHeaderName(header))) continue;
    const auto nodes = header == ProxyHeader::kForwarded ? ForwardedReader(line->value).Read()
                                                         : NodesOfForwardedFor(line->value);
    if (!nodes || !walk.Through(*nodes)) break;
  }
  return walk.at();
}

std::string_view ProxyHeaderName(ProxyHeader header) {
  return header == ProxyHeader::kForwarded ? "Forwarded" : "X-Forwarded-For";
}

}  // namespace brim::door

// Where a server listens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <brim/result.h>

namespace brim::redis {

inline constexpr std::uint16_t kDefaultPort = 6379;
inline constexpr std::uint16_t kDefaultSentinelPort = 26379;

// A plain value.
struct Endpoint {
  std::string host = "127.0.0.1";  // a name or an address; v6 without brackets
  std::uint16_t port = kDefaultPort;
  std::string unix_path = {};  // if not empty: this unix socket instead
  bool operator==(const Endpoint&) const = default;
};

// "redis at 10.0.0.1:6379", for messages.
std::string PeerName(const Endpoint& endpoint);

// "host", "host:port", "[v6]" or "[v6]:port", as in URLs. kInvalid: what is wrong with it.
Result<Endpoint> ParseEndpoint(std::string_view text, std::uint16_t default_port);

// "host:port" as the nodes of a cluster write it: v6 without brackets, the host perhaps empty.
// nullopt: it is something else.
std::optional<Endpoint> ParseNode(std::string_view text);

}  // namespace brim::redis

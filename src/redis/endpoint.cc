#include "redis/endpoint.h"

#include "base/limits.h"
#include "base/text.h"
#include "redis/reply_error.h"

namespace brim::redis {
namespace {

Error Bad(const char* what) { return {ErrorCode::kInvalid, what, {}}; }

}  // namespace

std::string PeerName(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return "redis at " + Printable(endpoint.unix_path);
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  const std::string host = Printable(endpoint.host);
  return "redis at " + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(endpoint.port);
}

Result<Endpoint> ParseEndpoint(std::string_view text, std::uint16_t default_port) {
  Endpoint endpoint{.port = default_port};
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == text.npos) return Bad("an IPv6 address needs its closing ']'");
    endpoint.host = text.substr(1, close - 1);
    end = close + 1 == text.size() ? text.npos : close + 1;
    if (end != text.npos && text[end] != ':') return Bad("after ']' only ':port' may follow");
  } else {
    endpoint.host = text.substr(0, end);
  }
  if (endpoint.host.empty()) return Bad("the host is missing");
  if (endpoint.host.size() > limits::kMaxHostBytes) return Bad("the host is too long");
  if (end == text.npos) return endpoint;
  const std::string_view port = text.substr(end + 1);
  if (port.empty()) return Bad("the port is missing after ':'");
  const auto number = ParseNumber<int>(port, 65535);
  if (!number || *number == 0) return Bad("the port must be a number from 1 to 65535");
  endpoint.port = static_cast<std::uint16_t>(*number);
  return endpoint;
}

std::optional<Endpoint> ParseNode(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon > limits::kMaxHostBytes) return std::nullopt;
  const auto port = ParseNumber<int>(text.substr(colon + 1), 65535);
  if (!port || *port == 0) return std::nullopt;
  return Endpoint{.host = std::string(text.substr(0, colon)),
                  .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace brim::redis

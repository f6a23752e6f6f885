#include "net/listen_address.h"

#include <charconv>
#include <optional>
#include <system_error>

#include "base/limits.h"

namespace brim::net {
namespace {

constexpr std::string_view kUnixScheme = "unix:";
constexpr std::size_t kMaxV6Bytes = 64;  // more than any address, with a zone or not

Error Refuse(std::string_view text, std::string_view why) {
  return {.code = ErrorCode::kInvalid,
          .message = "cannot listen on \"" + std::string(text) + "\": " + std::string(why),
          .field = "listen"};
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return port;
}

bool IsHostText(std::string_view host) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
  return !host.empty() && host.size() <= limits::kMaxHostBytes &&
         host.find_first_not_of(kAllowed) == host.npos;
}

bool IsV6Text(std::string_view host) {
  return host.find(':') != host.npos && host.size() <= kMaxV6Bytes &&
         host.find_first_not_of("0123456789abcdefABCDEF:.") == host.npos;
}

}  // namespace

std::string ListenAddress::ToString() const {
  if (is_unix()) return std::string(kUnixScheme) + unix_path;
  const bool is_v6 = host.find(':') != host.npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  ListenAddress address;
  if (text.starts_with(kUnixScheme)) {
    address.unix_path = text.substr(kUnixScheme.size());
    if (!address.unix_path.starts_with('/') || address.unix_path.find('\0') != std::string::npos) {
      return Refuse(text, "a unix socket is written unix:/path");
    }
    if (address.unix_path.size() > limits::kMaxUnixPathBytes) {
      return Refuse(text, "the path is longer than 107 bytes");
    }
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return Refuse(text, "the port is missing; write host:port");
  const auto port = ParsePort(text.substr(colon + 1));
  if (!port) return Refuse(text, "the port is a number from 0 to 65535");
  address.port = *port;

  std::string_view host = text.substr(0, colon);
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (in_brackets ? !IsV6Text(host) : !IsHostText(host)) {
    return Refuse(text, "write host:port, [v6]:port or unix:/path; 0.0.0.0 or [::] for all");
  }
  address.host = host;
  return address;
}

}  // namespace brim::net

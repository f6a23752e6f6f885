#include "redis/connection.h"

#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include "base/limits.h"

namespace brim::redis {

namespace asio = boost::asio;
using boost::system::error_code;

Error SocketError(const Endpoint& endpoint, std::string_view what, const error_code& error) {
  return {ErrorCode::kUnavailable,
          PeerName(endpoint) + ": " + std::string(what) + ": " + error.message() +
              "; is the server running there?",
          {}};
}

Awaitable<Result<void>> Connection::Connect(Endpoint to) {
  std::vector<Protocol::endpoint> endpoints;
  error_code error = co_await Resolve(to, endpoints);
  for (const auto& endpoint : endpoints) {
    if (closed) break;
    error_code ignored;
    socket.close(ignored);
    std::tie(error) = co_await socket.async_connect(endpoint, kAwait);
    if (error) continue;
    socket.non_blocking(true, ignored);
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);  // fails on a unix socket
    if (tls_options) co_return co_await Secure(to);
    co_return Result<void>();
  }
  co_return SocketError(to, "cannot connect", error);
}

void Connection::Close() {
  closed = true;
  error_code ignored;
  resolver.cancel();
  socket.close(ignored);
}

Awaitable<error_code> Connection::Resolve(const Endpoint& to,
                                          std::vector<Protocol::endpoint>& endpoints) {
  if (!to.unix_path.empty()) {
    if (to.unix_path.size() > limits::kMaxUnixPathBytes) co_return asio::error::name_too_long;
    endpoints.emplace_back(asio::local::stream_protocol::endpoint(to.unix_path));
    co_return error_code();
  }
  error_code error;
  const auto address = asio::ip::make_address(to.host, error);
  if (!error) {
    endpoints.emplace_back(asio::ip::tcp::endpoint(address, to.port));
    co_return error;
  }
  auto [failure, found] = co_await resolver.async_resolve(to.host, std::to_string(to.port), kAwait);
  for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
  co_return failure;
}

Awaitable<Result<void>> Connection::Secure(const Endpoint& to) {
  auto context = MakeTlsContext(*tls_options);
  if (!context) co_return context.error();
  tls_context.emplace(*std::move(context));
  tls.emplace(socket, *tls_context);
  const std::string& name = tls_options->server_name.empty() ? to.host : tls_options->server_name;
  error_code not_an_address;
  asio::ip::make_address(name, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(tls->native_handle(), name.c_str());
  error_code error;
  tls->set_verify_callback(asio::ssl::host_name_verification(name), error);
  if (!error)
    std::tie(error) = co_await tls->async_handshake(asio::ssl::stream_base::client, kAwait);
  if (!error) co_return Result<void>();
  const long verified = SSL_get_verify_result(tls->native_handle());
  if (verified == X509_V_OK) co_return SocketError(to, "TLS handshake", error);
  co_return Error{ErrorCode::kSetup,
                  PeerName(to) + ": the server's certificate is not good: " +
                      X509_verify_cert_error_string(verified) +
                      "; check cafile, and that it names " + name,
                  {}};
}

}  // namespace brim::redis

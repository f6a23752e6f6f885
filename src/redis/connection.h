// One connection to one server: TCP, TLS or a unix socket. Inside src/redis alone.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <brim/result.h>
#include "redis/endpoint.h"
#include "redis/tls.h"

namespace brim::redis {

using Executor = boost::asio::io_context::executor_type;
using Protocol = boost::asio::generic::stream_protocol;
using Socket = boost::asio::basic_stream_socket<Protocol, Executor>;
using Timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
template <typename T>
using Awaitable = boost::asio::awaitable<T, Executor>;
inline constexpr boost::asio::as_tuple_t<boost::asio::use_awaitable_t<Executor>> kAwait;

// kUnavailable, with the peer's name and a remedy.
Error SocketError(const Endpoint& endpoint, std::string_view what,
                  const boost::system::error_code& error);

// Loop-bound. What is under way on a closed one ends with an error.
struct Connection {
  Connection(boost::asio::io_context& io, std::optional<TlsOptions> tls_options)
      : socket(io.get_executor()),
        resolver(socket.get_executor()),
        tls_options(std::move(tls_options)) {}

  // Each address that the name has, in turn; then the TLS handshake. Close() ends it early. It must
  // outlive the call.
  Awaitable<Result<void>> Connect(Endpoint to);
  void Close();

  Socket socket;
  boost::asio::ip::basic_resolver<boost::asio::ip::tcp, Executor> resolver;
  const std::optional<TlsOptions> tls_options;
  // The certificates are read anew for each connection, so that a renewed one is used.
  std::optional<boost::asio::ssl::context> tls_context;
  std::optional<boost::asio::ssl::stream<Socket&>> tls;  // after the handshake has begun
  bool closed = false;
  std::string out;       // what is being written
  bool writing = false;  // an asynchronous write is under way

 private:
  Awaitable<boost::system::error_code> Resolve(const Endpoint& to,
                                               std::vector<Protocol::endpoint>& endpoints);
  Awaitable<Result<void>> Secure(const Endpoint& to);
};

}  // namespace brim::redis

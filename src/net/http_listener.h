// Accepts connections of one server on one shard. Internal to net.
#pragma once

#include <memory>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "net/http_session.h"
#include "net/timer_wheel.h"

namespace brim::net {

// Loop-bound, but for construction and destruction.
class HttpListener final : public std::enable_shared_from_this<HttpListener>,
                           private TimerWheel::Entry {
 public:
  // Takes `fd`, a listening non-blocking socket.
  HttpListener(std::shared_ptr<HttpShard> home, int fd, int family);

  HttpShard& home() { return *home_; }
  void Start() { Wait(); }
  void Close();

 private:
  void Wait();
  bool AcceptSome();
  void Serve(int fd, std::string peer_address);
  void OnTimer() override { Wait(); }

  const std::shared_ptr<HttpShard> home_;
  const boost::asio::generic::stream_protocol protocol_;
  boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol, Shard::Executor>
      acceptor_;
};

}  // namespace brim::net

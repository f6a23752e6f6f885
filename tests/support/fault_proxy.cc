#include "support/fault_proxy.h"

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace brim::testing {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

struct Session {
  explicit Session(asio::io_context& io) : client(io), server(io) {}
  tcp::socket client;
  tcp::socket server;

  void Reset() {
    error_code ignored;
    client.set_option(asio::socket_base::linger(true, 0), ignored);
    client.close(ignored);
    server.close(ignored);
  }
};

}  // namespace

// All but the constructor, the destructor and what it posts runs in its thread.
class FaultProxy::Impl {
 public:
  explicit Impl(std::uint16_t server_port)
      : server_(asio::ip::address_v4::loopback(), server_port),
        acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        port_(acceptor_.local_endpoint().port()) {
    asio::co_spawn(io_, Accept(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Impl() {
    io_.stop();
    thread_.join();
  }

  std::uint16_t port() const { return port_; }
  int accepted() const { return accepted_; }

  void Set(const Fault& fault) {
    asio::post(io_, [this, fault] {
      fault_ = fault;
      for (const auto& session : sessions_) HalfClose(*session);
    });
  }
  void Reset() {
    asio::post(io_, [this] {
      for (const auto& session : sessions_) session->Reset();
    });
  }

 private:
  asio::awaitable<void> Accept() {
    while (true) {  // stops: with the loop
      const auto session = std::make_shared<Session>(io_);
      const auto [error] = co_await acceptor_.async_accept(session->client, kAwait);
      if (error) co_return;
      ++accepted_;
      asio::co_spawn(io_, Serve(session), asio::detached);
    }
  }

  asio::awaitable<void> Serve(std::shared_ptr<Session> session) {
    const auto [error] = co_await session->server.async_connect(server_, kAwait);
    if (error) co_return session->Reset();
    sessions_.insert(session);
    HalfClose(*session);
    asio::co_spawn(io_, Requests(session), asio::detached);
    co_await Replies(session);
    session->Reset();
    sessions_.erase(session);
  }

  asio::awaitable<void> Requests(std::shared_ptr<Session> session) {
    std::array<char, 16 << 10> bytes;
    while (true) {  // stops: when the client or the server has closed
      const auto [error, size] =
          co_await session->client.async_read_some(asio::buffer(bytes), kAwait);
      if (error) co_return session->Reset();
      if (fault_.black_hole) continue;
      const auto [write_error, written] =
          co_await asio::async_write(session->server, asio::buffer(bytes, size), kAwait);
      if (write_error) co_return session->Reset();
    }
  }

  asio::awaitable<void> Replies(std::shared_ptr<Session> session) {
    std::array<char, 16 << 10> bytes;
    while (true) {  // stops: when the client or the server has closed, or at the cut
      const std::size_t most = fault_.drip ? 1 : bytes.size();
      const auto [error, size] =
          co_await session->server.async_read_some(asio::buffer(bytes, most), kAwait);
      if (error) co_return;
      if (fault_.delay.count() > 0) co_await Wait(fault_.delay);
      if (fault_.drip) co_await Wait(std::chrono::milliseconds(1));
      if (fault_.black_hole || fault_.lose_replies) continue;
      const std::size_t left = std::min(size, fault_.cut_after.value_or(size));
      if (fault_.cut_after) *fault_.cut_after -= left;
      const auto [write_error, written] =
          co_await asio::async_write(session->client, asio::buffer(bytes, left), kAwait);
      if (write_error || left < size) co_return;
    }
  }

  asio::awaitable<void> Wait(std::chrono::milliseconds time) {
    asio::steady_timer timer(io_, time);
    co_await timer.async_wait(kAwait);
  }

  void HalfClose(Session& session) {
    error_code ignored;
    if (fault_.half_close) session.client.shutdown(tcp::socket::shutdown_send, ignored);
  }

  asio::io_context io_{1};
  const tcp::endpoint server_;
  tcp::acceptor acceptor_;
  const std::uint16_t port_;
  std::set<std::shared_ptr<Session>> sessions_;
  Fault fault_;
  std::atomic<int> accepted_ = 0;
  std::thread thread_;
};

FaultProxy::FaultProxy(std::uint16_t server_port) : impl_(std::make_unique<Impl>(server_port)) {}
FaultProxy::~FaultProxy() = default;
std::uint16_t FaultProxy::port() const { return impl_->port(); }
void FaultProxy::Set(const Fault& fault) { impl_->Set(fault); }
void FaultProxy::Reset() { impl_->Reset(); }
int FaultProxy::accepted() const { return impl_->accepted(); }

}  // namespace brim::testing

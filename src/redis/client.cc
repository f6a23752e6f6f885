#include "redis/client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "redis/pipeline.h"

namespace brim::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Protocol = asio::generic::stream_protocol;
using Socket = asio::basic_stream_socket<Protocol, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;
template <typename T>
using Awaitable = asio::awaitable<T, Executor>;
constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> kAwait;

// One connection. What is under way on an old one finds that it is not the current one any more.
struct Connection {
  explicit Connection(asio::io_context& io)
      : socket(io.get_executor()), resolver(socket.get_executor()) {}
  Socket socket;
  Resolver resolver;
  std::string out;       // what is being written
  bool writing = false;  // an asynchronous write is under way
};

std::string PeerName(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return "redis at " + Printable(endpoint.unix_path);
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  const std::string host = Printable(endpoint.host);
  return "redis at " + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(endpoint.port);
}

PipelineOptions MakePipelineOptions(const ClientOptions& options) {
  return {PeerName(options.endpoint), options.user,           options.password, options.db,
          options.client_name,        options.connect_timeout};
}

Instant Now() { return std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now()); }

}  // namespace

// Shared by the client and by what is under way in the loop; the latter only finds out that all is
// over once the client is gone.
class Client::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, ClientOptions options)
      : io_(io),
        options_(std::move(options)),
        pipeline_(MakePipelineOptions(options_)),
        deadline_timer_(io.get_executor()),
        retry_timer_(io.get_executor()),
        random_(options_.jitter_seed != 0 ? options_.jitter_seed : std::random_device()()) {}

  void Start() { asio::co_spawn(io_.get_executor(), Live(shared_from_this()), asio::detached); }

  void Stop() {
    stopped_ = true;
    if (connection_) Shut(*std::exchange(connection_, nullptr));
    deadline_timer_.cancel();
    retry_timer_.cancel();
    pipeline_.Close({ErrorCode::kUnavailable, PeerName(options_.endpoint) + ": closed", {}});
  }

  // Everything that was asked in this turn of the loop is done by one task at its end.
  void TurnSoon() {
    if (std::exchange(turn_posted_, true)) return;
    asio::post(io_, [self = shared_from_this()] { self->Turn(); });
  }

  Pipeline& pipeline() { return pipeline_; }

 private:
  // `self` keeps this object alive while the coroutine waits.
  Awaitable<void> Live(std::shared_ptr<Impl> self) {
    while (!stopped_) {
      const auto connects = pipeline_.stats().connects;
      connection_ = std::make_shared<Connection>(io_);
      co_await Serve(connection_);
      failures_ = pipeline_.stats().connects != connects ? 0 : failures_ + 1;
      if (stopped_) break;
      retry_timer_.expires_after(RetryDelay());
      co_await retry_timer_.async_wait(kAwait);
    }
    (void)self;
  }

  // From connecting until the connection is lost.
  Awaitable<void> Serve(std::shared_ptr<Connection> connection) {
    pipeline_.Connecting(Now());
    ArmTimer();
    auto result = co_await Connect(connection);
    if (!IsCurrent(connection)) co_return;
    if (result) {
      pipeline_.Connected();
      TurnSoon();
      result = co_await Read(connection);
    }
    if (!result) Drop(connection, result.error());
  }

  Awaitable<Result<void>> Connect(std::shared_ptr<Connection> connection) {
    std::vector<Protocol::endpoint> endpoints;
    error_code error = co_await Resolve(*connection, endpoints);
    for (const auto& endpoint : endpoints) {
      if (!IsCurrent(connection)) break;
      Socket& socket = connection->socket;
      error_code ignored;
      socket.close(ignored);
      std::tie(error) = co_await socket.async_connect(endpoint, kAwait);
      if (error) continue;
      socket.non_blocking(true, ignored);
      socket.set_option(asio::ip::tcp::no_delay(true), ignored);  // fails on a unix socket
      co_return Result<void>();
    }
    co_return SocketError("cannot connect", error);
  }

  Awaitable<error_code> Resolve(Connection& connection,
                                std::vector<Protocol::endpoint>& endpoints) {
    const Endpoint& to = options_.endpoint;
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
    auto [failure, found] =
        co_await connection.resolver.async_resolve(to.host, std::to_string(to.port), kAwait);
    for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
    co_return failure;
  }

  // Until the connection is lost.
  Awaitable<Result<void>> Read(std::shared_ptr<Connection> connection) {
    while (IsCurrent(connection)) {
      const auto space = pipeline_.ReadBuffer();
      const auto [error, bytes] = co_await connection->socket.async_read_some(
          asio::buffer(space.data(), space.size()), kAwait);
      if (!IsCurrent(connection)) break;
      if (error) co_return SocketError("connection lost", error);
      auto received = pipeline_.Received(bytes, Now());
      TurnSoon();
      if (!received) co_return received;
    }
    co_return Result<void>();
  }

  void Turn() {
    turn_posted_ = false;
    if (stopped_) return;
    if (connection_ && !connection_->writing) Write(connection_);
    pipeline_.CompleteFailed();
    ArmTimer();
  }

  // Tries to write at once, which nearly always takes everything.
  void Write(std::shared_ptr<Connection> connection) {
    std::string& out = connection->out;
    out.clear();
    pipeline_.Collect(Now(), out);
    if (out.empty()) return;
    error_code error;
    const std::size_t bytes = connection->socket.write_some(asio::buffer(out), error);
    if (error && error != asio::error::would_block) {
      return Drop(connection, SocketError("connection lost", error));
    }
    pipeline_.Written(bytes);
    if (bytes < out.size()) WriteRest(std::move(connection), bytes);
  }

  void WriteRest(std::shared_ptr<Connection> connection, std::size_t from) {
    connection->writing = true;
    auto& socket = connection->socket;
    const auto rest = asio::buffer(connection->out) + from;
    socket.async_write_some(rest, [self = shared_from_this(), connection, from](
                                      const error_code& error, std::size_t bytes) {
      self->WroteSome(connection, error, from, bytes);
    });
  }

  void WroteSome(std::shared_ptr<Connection> connection, const error_code& error, std::size_t from,
                 std::size_t bytes) {
    if (!IsCurrent(connection)) return;
    TurnSoon();
    if (error) return Drop(connection, SocketError("connection lost", error));
    pipeline_.Written(bytes);
    connection->writing = false;
    if (from + bytes < connection->out.size()) WriteRest(std::move(connection), from + bytes);
  }

  void Drop(const std::shared_ptr<Connection>& connection, const Error& why) {
    if (!IsCurrent(connection)) return;
    connection_.reset();
    Shut(*connection);
    pipeline_.Lost(why);
    TurnSoon();
  }

  static void Shut(Connection& connection) {
    error_code ignored;
    connection.resolver.cancel();
    connection.socket.close(ignored);
  }

  // One timer for all deadlines. It is set anew only for one that comes before it rings, so that
  // commands which are answered in time hardly ever touch it.
  void ArmTimer() {
    const auto next = pipeline_.NextDeadline();
    if (!next || (armed_ && *armed_ <= *next)) return;
    armed_ = next;
    deadline_timer_.expires_at(*next);
    deadline_timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error && !self->stopped_) self->OnTimer();
    });
  }

  void OnTimer() {
    armed_.reset();
    const auto in_time = pipeline_.Tick(Now());
    if (!in_time && connection_) Drop(std::shared_ptr(connection_), in_time.error());
    Turn();
  }

  bool IsCurrent(const std::shared_ptr<Connection>& connection) const {
    return connection == connection_;
  }

  Error SocketError(std::string_view what, const error_code& error) const {
    return {ErrorCode::kUnavailable,
            PeerName(options_.endpoint) + ": " + std::string(what) + ": " + error.message() +
                "; is the server running there?",
            {}};
  }

  // Full jitter: so many clients that lost one server do not come back in step.
  Micros RetryDelay() {
    const auto random = [this](Micros most) {
      return Micros(std::uniform_int_distribution<Micros::rep>(0, most.count())(random_));
    };
    const Micros least = options_.min_reconnect_delay;
    const Micros most = options_.max_reconnect_delay;
    if (pipeline_.refused()) return most + random(least);
    return random(std::min(most, least * (1 << std::min(failures_, 20))));
  }

  asio::io_context& io_;
  const ClientOptions options_;
  Pipeline pipeline_;
  std::shared_ptr<Connection> connection_;  // null while none is wanted or there
  Timer deadline_timer_;
  std::optional<Instant> armed_;  // when deadline_timer_ rings
  Timer retry_timer_;
  std::mt19937_64 random_;
  int failures_ = 0;  // attempts to connect since the last ready connection
  bool turn_posted_ = false;
  bool stopped_ = false;
};

Client::Client(asio::io_context& io, ClientOptions options)
    : impl_(std::make_shared<Impl>(io, std::move(options))) {}

Client::~Client() { impl_->Stop(); }

void Client::Start() { impl_->Start(); }

void Client::Run(std::string command, Micros timeout, Done done) {
  impl_->pipeline().Run(std::move(command), Now() + timeout, std::move(done));
  impl_->TurnSoon();
}

void Client::Eval(const Script& script, std::string command, Micros timeout, Done done) {
  impl_->pipeline().Eval(script, std::move(command), Now() + timeout, std::move(done));
  impl_->TurnSoon();
}

bool Client::ready() const { return impl_->pipeline().ready(); }

ClientStats Client::stats() const { return impl_->pipeline().stats(); }

}  // namespace brim::redis

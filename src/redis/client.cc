#include "redis/client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "redis/connection.h"
#include "redis/pipeline.h"
#include "redis/sentinel.h"

namespace brim::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

PipelineOptions MakePipelineOptions(const ClientOptions& options, OnRedirect redirect) {
  return {.peer = PeerName(options.endpoint),
          .user = options.user,
          .password = options.password,
          .db = options.db,
          .client_name = options.client_name,
          .setup_timeout = options.connect_timeout,
          .self_test = options.self_test,
          .check_role = options.sentinel.has_value(),
          .jitter_seed = options.jitter_seed,
          .redirect = std::move(redirect)};
}

Instant Now() { return std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now()); }

}  // namespace

// Shared by the client and by what is under way in the loop; the latter only finds out that all is
// over once the client is gone.
class Client::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, ClientOptions options, ClientHooks hooks)
      : io_(io),
        options_(std::move(options)),
        lost_(std::move(hooks.lost)),
        peer_(options_.endpoint),
        pipeline_(MakePipelineOptions(options_, std::move(hooks.redirect))),
        deadline_timer_(io.get_executor()),
        retry_timer_(io.get_executor()),
        random_(options_.jitter_seed != 0 ? options_.jitter_seed : std::random_device()()) {}

  void Start() {
    if (options_.sentinel) {
      sentinels_ = std::make_shared<Sentinels>(io_, *options_.sentinel,
                                               [weak = weak_from_this()](const Endpoint& primary) {
                                                 if (const auto self = weak.lock())
                                                   self->Moved(primary);
                                               });
      sentinels_->Start();
    }
    asio::co_spawn(io_.get_executor(), Live(shared_from_this()), asio::detached);
  }

  void Stop() {
    stopped_ = true;
    if (sentinels_) sentinels_->Stop();
    if (connection_) std::exchange(connection_, nullptr)->Close();
    deadline_timer_.cancel();
    retry_timer_.cancel();
    pipeline_.Close({ErrorCode::kUnavailable, PeerName(peer_) + ": closed", {}});
  }

  // Everything that was asked in this turn of the loop is done by one task at its end.
  void TurnSoon() {
    if (std::exchange(turn_posted_, true)) return;
    asio::post(io_, [self = shared_from_this()] { self->Turn(); });
  }

  Pipeline& pipeline() { return pipeline_; }
  const Endpoint& peer() const { return peer_; }

 private:
  // `self` keeps this object alive while the coroutine waits.
  Awaitable<void> Live(std::shared_ptr<Impl> self) {
    while (!stopped_) {
      const auto connects = pipeline_.stats().connects;
      connection_ = std::make_shared<Connection>(io_, options_.tls);
      co_await Serve(connection_);
      failures_ = pipeline_.stats().connects != connects ? 0 : failures_ + 1;
      if (stopped_) break;
      if (lost_) lost_();
      retry_timer_.expires_after(RetryDelay());
      co_await retry_timer_.async_wait(kAwait);
    }
    (void)self;
  }

  // From connecting until the connection is lost.
  Awaitable<void> Serve(std::shared_ptr<Connection> connection) {
    if (sentinels_) {
      auto primary = co_await sentinels_->Find();
      if (!IsCurrent(connection)) co_return;
      if (!primary) co_return Drop(connection, primary.error());
      peer_ = *std::move(primary);
      pipeline_.SetPeer(PeerName(peer_));
    }
    pipeline_.Connecting(Now());
    ArmTimer();
    auto result = co_await connection->Connect(peer_);
    if (!IsCurrent(connection)) co_return;
    if (result) {
      pipeline_.Connected();
      TurnSoon();
      result = co_await Read(connection);
    }
    if (!result) Drop(connection, result.error());
  }

  // Until the connection is lost.
  Awaitable<Result<void>> Read(std::shared_ptr<Connection> connection) {
    while (IsCurrent(connection)) {
      const auto space = pipeline_.ReadBuffer();
      const auto into = asio::buffer(space.data(), space.size());
      error_code error;
      std::size_t bytes = 0;
      // Not `?:`: g++ 12 destroys temporaries of the branch that was not taken.
      if (connection->tls) {
        std::tie(error, bytes) = co_await connection->tls->async_read_some(into, kAwait);
      } else {
        std::tie(error, bytes) = co_await connection->socket.async_read_some(into, kAwait);
      }
      if (!IsCurrent(connection)) break;
      if (error) co_return SocketError(peer_, "connection lost", error);
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
    std::size_t bytes = 0;
    if (!connection->tls) bytes = connection->socket.write_some(asio::buffer(out), error);
    if (error && error != asio::error::would_block) {
      return Drop(connection, SocketError(peer_, "connection lost", error));
    }
    // From here on the rest may leave at any time, before we are told.
    pipeline_.Written(out.size());
    if (bytes < out.size()) WriteRest(std::move(connection), bytes);
  }

  void WriteRest(std::shared_ptr<Connection> connection, std::size_t from) {
    connection->writing = true;
    const auto rest = asio::buffer(connection->out) + from;
    auto wrote = [self = shared_from_this(), connection, from](const error_code& error,
                                                               std::size_t bytes) {
      self->WroteSome(connection, error, from + bytes);
    };
    if (connection->tls) {
      connection->tls->async_write_some(rest, std::move(wrote));
    } else {
      connection->socket.async_write_some(rest, std::move(wrote));
    }
  }

  void WroteSome(std::shared_ptr<Connection> connection, const error_code& error,
                 std::size_t written) {
    if (!IsCurrent(connection)) return;
    if (error) return Drop(connection, SocketError(peer_, "connection lost", error));
    connection->writing = false;
    if (written < connection->out.size()) return WriteRest(std::move(connection), written);
    TurnSoon();
  }

  void Drop(const std::shared_ptr<Connection>& connection, const Error& why) {
    if (!IsCurrent(connection)) return;
    connection_.reset();
    connection->Close();
    pipeline_.Lost(why);
    TurnSoon();
  }

  // The sentinels say where the primary is.
  void Moved(const Endpoint& primary) {
    if (stopped_) return;
    if (connection_ && peer_ != primary) {
      const Error why{ErrorCode::kUnavailable, "the primary is now " + PeerName(primary), {}};
      Drop(std::shared_ptr(connection_), why);
    }
    failures_ = 0;
    retry_timer_.cancel();  // if it runs: there is something new to try
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

  // Full jitter: so many clients that lost one server do not come back in step.
  Micros RetryDelay() {
    const auto random = [this](Micros most) {
      return Micros(std::uniform_int_distribution<Micros::rep>(0, most.count())(random_));
    };
    const Micros least = options_.min_reconnect_delay;
    const Micros most = options_.max_reconnect_delay;
    if (pipeline_.refused()) return most + random(least);
    const int doublings = std::min(20, failures_ + pipeline_.late_in_a_row());
    return random(std::min(most, least * (1 << doublings)));
  }

  asio::io_context& io_;
  const ClientOptions options_;
  const std::function<void()> lost_;
  Endpoint peer_;
  std::shared_ptr<Sentinels> sentinels_;  // null: the endpoint is given
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

Client::Client(asio::io_context& io, ClientOptions options, ClientHooks hooks)
    : impl_(std::make_shared<Impl>(io, std::move(options), std::move(hooks))) {}

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

void Client::Forward(Redirected redirected) {
  impl_->pipeline().Forward(std::move(redirected));
  impl_->TurnSoon();
}

bool Client::ready() const { return impl_->pipeline().ready(); }

bool Client::down() const { return impl_->pipeline().down().has_value(); }

bool Client::idle() const { return impl_->pipeline().waiting() == 0; }

const Endpoint& Client::endpoint() const { return impl_->peer(); }

ClientStats Client::stats() const { return impl_->pipeline().stats(); }

}  // namespace brim::redis

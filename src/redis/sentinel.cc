#include "redis/sentinel.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <netinet/tcp.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>

#include "base/text.h"
#include "redis/command.h"
#include "redis/reply_error.h"
#include "redis/resp.h"

namespace brim::redis {

namespace asio = boost::asio;
using enum ErrorCode;

namespace {

// Takes the next word off the front of a text.
std::string_view TakeWord(std::string_view& rest) {
  const std::size_t space = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, space);
  rest.remove_prefix(std::min(space + 1, rest.size()));
  return word;
}

std::optional<Endpoint> MakeEndpoint(std::string_view host, std::string_view port) {
  const auto number = ParseNumber<int>(port, 65535);
  if (host.empty() || host.size() > limits::kMaxHostBytes || !number || *number == 0) {
    return std::nullopt;
  }
  return Endpoint{.host = std::string(host), .port = static_cast<std::uint16_t>(*number)};
}

// So that a sentinel whose machine is gone is noticed though nothing is ever sent to it.
void KeepAlive(Socket& socket) {
  using asio::detail::socket_option::integer;
  boost::system::error_code ignored;  // fails on a unix socket
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(integer<IPPROTO_TCP, TCP_KEEPIDLE>(5), ignored);
  socket.set_option(integer<IPPROTO_TCP, TCP_KEEPINTVL>(2), ignored);
  socket.set_option(integer<IPPROTO_TCP, TCP_KEEPCNT>(3), ignored);
}

}  // namespace

std::optional<Endpoint> ParseSwitch(std::string_view text, std::string_view master_name) {
  if (TakeWord(text) != master_name) return std::nullopt;
  TakeWord(text);
  TakeWord(text);
  const std::string_view host = TakeWord(text);
  return MakeEndpoint(host, text);
}

// One question after the other, on one connection that is closed when an answer takes too long.
class Sentinels::Talk {
 public:
  Talk(asio::io_context& io, const SentinelOptions& options, Endpoint to)
      : options_(options),
        to_(std::move(to)),
        connection_(std::make_shared<Connection>(io, options.tls)),
        timer_(io.get_executor()) {}
  ~Talk() { connection_->Close(); }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  const Endpoint& to() const { return to_; }
  const std::shared_ptr<Connection>& connection() const { return connection_; }

  // Connects and signs in.
  Awaitable<Result<void>> Open() {
    SetDeadline();
    auto connected = co_await connection_->Connect(to_);
    if (!connected) co_return connected;
    if (options_.password.empty() && options_.user.empty()) co_return Result<void>();
    Command auth(options_.user.empty() ? 2 : 3);
    auth.Arg("AUTH");
    if (!options_.user.empty()) auth.Arg(options_.user);
    std::string command = auth.Arg(options_.password).Take();
    auto reply = co_await Ask(std::move(command));
    if (!reply) co_return reply.error();
    if (reply->type() != ReplyType::kError) co_return Result<void>();
    // The text may repeat the password.
    co_return Bad("AUTH failed, check user and password; " +
                  ReplyError(ErrorWord(reply->text())).message);
  }

  Awaitable<Result<Reply>> Ask(std::string command) {
    SetDeadline();
    boost::system::error_code error;
    std::size_t written = 0;
    // Not `?:`: g++ 12 destroys temporaries of the branch that was not taken.
    if (connection_->tls) {
      std::tie(error, written) =
          co_await asio::async_write(*connection_->tls, asio::buffer(command), kAwait);
    } else {
      std::tie(error, written) =
          co_await asio::async_write(connection_->socket, asio::buffer(command), kAwait);
    }
    if (error) co_return SocketError(to_, "connection lost", error);
    co_return co_await Next();
  }

  // What it says next; waits for as long as it takes once WaitForEver was called.
  Awaitable<Result<Reply>> Next() {
    while (true) {  // stops: at a reply, at malformed bytes, when the connection is lost
      const auto status = decoder_.Next();
      if (status == Decoder::Status::kReply) co_return decoder_.reply();
      if (status == Decoder::Status::kMalformed) co_return Bad(std::string(decoder_.error()));
      const auto space = decoder_.Prepare();
      const auto into = asio::buffer(space.data(), space.size());
      boost::system::error_code error;
      std::size_t bytes = 0;
      if (connection_->tls) {
        std::tie(error, bytes) = co_await connection_->tls->async_read_some(into, kAwait);
      } else {
        std::tie(error, bytes) = co_await connection_->socket.async_read_some(into, kAwait);
      }
      if (error) co_return SocketError(to_, "connection lost", error);
      decoder_.Commit(bytes);
    }
  }
  void WaitForEver() { timer_.cancel(); }

  Error Bad(std::string what) const { return {kSetup, PeerName(to_) + ": " + what, {}}; }

 private:
  void SetDeadline() {
    timer_.expires_after(limits::kSentinelTimeout);
    timer_.async_wait([connection = std::weak_ptr(connection_)](const auto& error) {
      const auto alive = connection.lock();
      if (!error && alive) alive->Close();
    });
  }

  const SentinelOptions& options_;
  const Endpoint to_;
  const std::shared_ptr<Connection> connection_;
  Timer timer_;
  Decoder decoder_;
};

Sentinels::Sentinels(asio::io_context& io, SentinelOptions options, Moved moved)
    : io_(io), options_(std::move(options)), moved_(std::move(moved)), pause_(io.get_executor()) {}

void Sentinels::Start() {
  asio::co_spawn(io_.get_executor(), Listen(shared_from_this()), asio::detached);
}

void Sentinels::Stop() {
  stopped_ = true;
  pause_.cancel();
  if (const auto connection = listening_.lock()) connection->Close();
}

Awaitable<Result<Endpoint>> Sentinels::Find() {
  const auto self = shared_from_this();
  Error why{kUnavailable, "no sentinel is given", {}};
  for (std::size_t i = 0; i < options_.endpoints.size() && !stopped_; ++i) {
    Talk talk(io_, options_, options_.endpoints[first_]);
    auto open = co_await talk.Open();
    if (open) {
      auto found = co_await Ask(talk);
      if (found) co_return found;
      why = found.error();
    } else {
      why = open.error();
    }
    first_ = (first_ + 1) % options_.endpoints.size();
  }
  why.message =
      "the sentinels do not tell where " + Printable(options_.master_name) + " is; " + why.message;
  co_return why;
}

Awaitable<Result<Endpoint>> Sentinels::Ask(Talk& talk) {
  Command command(3);
  command.Arg("SENTINEL").Arg("GET-MASTER-ADDR-BY-NAME").Arg(options_.master_name);
  std::string bytes = command.Take();
  auto reply = co_await talk.Ask(std::move(bytes));
  if (!reply) co_return reply.error();
  if (reply->type() == ReplyType::kError) co_return talk.Bad(ReplyError(reply->text()).message);
  if (reply->type() == ReplyType::kNull) {
    co_return talk.Bad("it watches over no primary of this name; check the URL");
  }
  auto primary =
      reply->size() == 2 ? MakeEndpoint((*reply)[0].text(), (*reply)[1].text()) : std::nullopt;
  if (!primary) co_return talk.Bad("this is no sentinel's answer; check address and port");
  co_return *std::move(primary);
}

Awaitable<void> Sentinels::Listen(std::shared_ptr<Sentinels> self) {
  std::size_t at = 0;
  while (!stopped_) {
    co_await ListenTo(options_.endpoints[at]);
    at = (at + 1) % options_.endpoints.size();
    if (stopped_) break;
    pause_.expires_after(limits::kSentinelPause);
    co_await pause_.async_wait(kAwait);
  }
  (void)self;
}

Awaitable<void> Sentinels::ListenTo(const Endpoint& sentinel) {
  Talk talk(io_, options_, sentinel);
  listening_ = talk.connection();
  auto open = co_await talk.Open();
  if (!open) co_return;
  // Asked in this order, no failover falls between: but after SUBSCRIBE only messages are answered.
  Talk question(io_, options_, sentinel);
  std::string subscribe = Command(2).Arg("SUBSCRIBE").Arg("+switch-master").Take();
  auto reply = co_await talk.Ask(std::move(subscribe));
  if (!reply) co_return;
  auto opened = co_await question.Open();
  if (opened) {
    auto primary = co_await Ask(question);
    if (primary && !stopped_) moved_(*primary);
  }
  talk.WaitForEver();
  KeepAlive(talk.connection()->socket);
  while (!stopped_) {
    auto message = co_await talk.Next();
    if (!message) co_return;
    if (message->size() != 3 || (*message)[0].text() != "message") continue;
    if (auto primary = ParseSwitch((*message)[2].text(), options_.master_name)) moved_(*primary);
  }
}

}  // namespace brim::redis

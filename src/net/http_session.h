// One connection: reads requests, asks the handler, writes the responses in order. Internal to net.
//
// A coroutine on the shard that accepted the connection. It answers all complete requests that it
// has before it writes, so pipelined ones share a write. Its deadline is an entry of the shard's
// wheel:
// - no request: options.idle_timeout (header_timeout for the first), then closed;
// - a head: header_timeout from its first byte, then 408;
// - a body, or a response that the client does not read: header_timeout without progress, or an
//   average (after header_timeout) of less than kMinBodyBytesPerSecond, then 408 or closed;
// - a handler that has not resumed: none, the handler owes an answer. Nothing is read meanwhile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/http.h"
#include "net/http_parser.h"
#include "net/http_server.h"
#include "net/http_writer.h"
#include "net/read_buffer.h"
#include "net/shard.h"
#include "net/timer_wheel.h"

namespace brim::net {

using Socket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Shard::Executor>;
template <typename T>
using Task = boost::asio::awaitable<T, Shard::Executor>;

class HttpSession;

// What the sessions and listeners of one server share on one shard. Loop-bound.
struct HttpShard {
  HttpShard(Shard& shard, HttpHandler& handler, const HttpServerOptions& options)
      : shard(shard), handler(handler), options(options) {}

  void BeginDrain(MoveOnlyFunction<void()> on_empty);
  void CloseAll();  // cuts every session; the handler is not called any more
  void Enter(HttpSession& session);
  void Leave(HttpSession& session);

  Shard& shard;
  HttpHandler& handler;
  const HttpServerOptions options;
  HttpDate date;
  std::vector<HttpSession*> sessions;
  bool draining = false;
  MoveOnlyFunction<void()> on_empty;  // while draining: called when the last session is gone
};

class HttpSession final : public std::enable_shared_from_this<HttpSession>,
                          private HttpPause,
                          private TimerWheel::Entry {
 public:
  HttpSession(std::shared_ptr<HttpShard> home, Socket socket, std::string peer_address);

  // Serves the connection to its end. The session lives until then, and longer if a handler still
  // holds the HttpResume of an abandoned request.
  void Start();

  void BeginDrain();  // an idle session ends now, another one with its next response
  void Abort();       // closes the socket, and abandons the request that waits for its handler

 private:
  friend struct HttpShard;
  class Membership;
  enum class Step { kRead, kWrite, kPause, kGoOn };
  enum class Phase { kIdle, kHead, kBody };
  using PauseHandler = boost::asio::async_result<boost::asio::use_awaitable_t<Shard::Executor>,
                                                 void()>::handler_type;

  Task<void> Run(std::shared_ptr<HttpSession> self);
  Step ServeNext();
  void FinishRequest();
  void Refuse(const HttpParseError& error);
  Task<void> WaitForHandler();
  void NoteRead(boost::system::error_code error, std::size_t count);
  void SetReadDeadline();
  bool TryFlush();
  Task<void> FlushSlowly();
  Task<void> Linger();

  HttpResume MakeResume() override;
  void OnResume(std::uint64_t ticket);
  void OnTimer() override;
  void SetDeadline(TimerWheel::Time deadline);
  TimerWheel::Time ProgressDeadline(TimerWheel::Time since, std::size_t bytes) const;

  const std::shared_ptr<HttpShard> home_;
  Socket socket_;
  const std::string peer_address_;
  HttpParser parser_;
  ReadBuffer in_;
  HttpResponse response_;
  std::string out_;            // responses that are not written yet
  std::size_t out_begin_ = 0;  // of out_, what is written already

  bool closing_ = false;     // no further request; ends when out_ is written
  bool lingers_ = false;     // the client still sends: it gets time to read the response
  bool gone_ = false;        // the socket is of no use any more
  bool aborted_ = false;     // the server is gone, or about to be
  bool timed_out_ = false;   // since the last SetDeadline
  bool waits_idle_ = false;  // for the first byte of a request
  bool served_any_ = false;

  Phase phase_ = Phase::kIdle;
  TimerWheel::Time phase_since_;
  std::size_t phase_bytes_ = 0;

  std::uint64_t pause_ticket_ = 0;      // of the newest HttpResume; an older one does nothing
  bool resumed_ = false;                // it was called
  std::optional<PauseHandler> paused_;  // the coroutine, while it waits for that
  std::size_t index_ = 0;               // in home_->sessions
};

}  // namespace brim::net

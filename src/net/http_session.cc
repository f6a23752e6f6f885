#include "net/http_session.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace brim::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr asio::use_awaitable_t<Shard::Executor> kUseAwaitable;
constexpr auto kAwait = asio::as_tuple(kUseAwaitable);

void GiveBackIfLarge(std::string& text) {
  if (text.capacity() > limits::kMaxKeptBytes) std::string().swap(text);
}

}  // namespace

void HttpShard::Enter(HttpSession& session) {
  session.index_ = sessions.size();
  sessions.push_back(&session);
}

void HttpShard::Leave(HttpSession& session) {
  sessions[session.index_] = sessions.back();
  sessions[session.index_]->index_ = session.index_;
  sessions.pop_back();
  if (sessions.empty() && on_empty) std::exchange(on_empty, nullptr)();
}

void HttpShard::BeginDrain(MoveOnlyFunction<void()> when_empty) {
  draining = true;
  if (sessions.empty()) return when_empty();
  on_empty = std::move(when_empty);
  for (HttpSession* session : sessions) session->BeginDrain();  // none leaves before its next turn
}

void HttpShard::CloseAll() {
  draining = true;
  for (HttpSession* session : sessions) session->Abort();  // likewise
}

// In the list of its shard as long as its coroutine lives, even if that is destroyed half-way.
class HttpSession::Membership {
 public:
  explicit Membership(HttpSession& session) : session_(session) { session.home_->Enter(session); }
  ~Membership() {
    error_code ignored;
    session_.socket_.close(ignored);
    session_.home_->shard.wheel().Remove(session_);
    session_.home_->Leave(session_);
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  HttpSession& session_;
};

HttpSession::HttpSession(std::shared_ptr<HttpShard> home, Socket socket, std::string peer_address)
    : home_(std::move(home)),
      socket_(std::move(socket)),
      peer_address_(std::move(peer_address)),
      parser_(home_->options.max_body_bytes) {}

void HttpSession::Start() {
  asio::co_spawn(home_->shard.io().get_executor(), Run(shared_from_this()), asio::detached);
}

// The loop ends when: 1. a response ends the connection; 2. the client has closed, or is gone;
// 3. a deadline has passed.
Task<void> HttpSession::Run(std::shared_ptr<HttpSession> self) {
  const Membership membership(*self);
  while (!gone_) {
    const Step step = ServeNext();
    if (step == Step::kGoOn) continue;
    if (!out_.empty() && !TryFlush()) co_await FlushSlowly();
    if (step == Step::kPause) {
      co_await WaitForHandler();
      if (aborted_) break;
      FinishRequest();
      continue;
    }
    if (gone_ || step == Step::kWrite) continue;
    if (closing_) break;

    SetReadDeadline();
    const auto room = in_.Room();
    const auto buffer = asio::buffer(room.data(), room.size());
    if (home_->draining && phase_ == Phase::kIdle) {
      error_code error;  // what has come already is answered; nothing more is waited for
      const std::size_t count = socket_.read_some(buffer, error);
      NoteRead(error, count);
    } else {
      waits_idle_ = phase_ == Phase::kIdle;
      // Asio tries the read before it waits.
      const auto [error, count] = co_await socket_.async_read_some(buffer, kAwait);
      waits_idle_ = false;
      NoteRead(error, count);
    }
  }
  if (lingers_ && !gone_) co_await Linger();
}

// Answers the next request if it is complete, and tells what to do next.
HttpSession::Step HttpSession::ServeNext() {
  if (closing_) return Step::kRead;
  std::size_t size = in_.size();
  const HttpParser::Status status = parser_.Parse(in_.data(), size);
  in_.Truncate(size);
  if (status == HttpParser::Status::kNeedMore) {
    if (!parser_.expects_continue()) return Step::kRead;
    parser_.SaidContinue();
    out_.append("HTTP/1.1 100 Continue\r\n\r\n");
    return Step::kRead;
  }
  if (status == HttpParser::Status::kError) {
    Refuse(parser_.error());
    return Step::kRead;
  }
  response_.status = 200;
  response_.headers.clear();
  response_.body.clear();
  response_.close = false;
  parser_.request().peer_address = peer_address_;
  if (home_->handler.Handle(parser_.request(), response_, *this) == HttpNext::kLater) {
    return Step::kPause;
  }
  FinishRequest();
  return out_.size() < limits::kMaxUnsentBytes ? Step::kGoOn : Step::kWrite;
}

// The response is complete: it joins those to write, and the request's bytes go.
void HttpSession::FinishRequest() {
  const bool keeps = parser_.keep_alive() && !response_.close && !home_->draining;
  if (!keeps) {
    closing_ = true;
    lingers_ = in_.size() > parser_.consumed();
  }
  const Persistence persistence = !keeps                  ? Persistence::kClose
                                  : parser_.is_http_1_0() ? Persistence::kKeepHttp10
                                                          : Persistence::kKeep;
  AppendResponse(out_, response_, parser_.is_head(), persistence,
                 home_->date.At(std::time(nullptr)));
  in_.Consume(parser_.consumed());
  parser_.Reset();
  phase_ = Phase::kIdle;
  served_any_ = true;
  GiveBackIfLarge(response_.headers);
  GiveBackIfLarge(response_.body);
}

void HttpSession::Refuse(const HttpParseError& error) {
  FillError(response_, error);
  AppendResponse(out_, response_, parser_.is_head(), Persistence::kClose,
                 home_->date.At(std::time(nullptr)));
  closing_ = lingers_ = true;
}

HttpResume HttpSession::MakeResume() {
  resumed_ = false;
  return [self = shared_from_this(), ticket = ++pause_ticket_] {
    self->home_->shard.Post([self, ticket] { self->OnResume(ticket); });
  };
}

void HttpSession::OnResume(std::uint64_t ticket) {
  if (ticket != pause_ticket_) return;
  resumed_ = true;
  if (!paused_) return;  // it still writes earlier responses, or was aborted
  PauseHandler handler = std::move(*paused_);
  paused_.reset();
  std::move(handler)();
}

Task<void> HttpSession::WaitForHandler() {
  if (resumed_ || aborted_) co_return;
  co_await asio::async_initiate<const asio::use_awaitable_t<Shard::Executor>, void()>(
      [this](auto handler) { paused_.emplace(std::move(handler)); }, kUseAwaitable);
}

void HttpSession::NoteRead(error_code error, std::size_t count) {
  if (!error) {
    in_.Commit(count);
    phase_bytes_ += count;
    return;
  }
  if (error != asio::error::operation_aborted) {
    gone_ = true;  // closed by the client, or cut, or there is nothing to read while draining
  } else if (timed_out_ && phase_ == Phase::kIdle) {
    gone_ = true;
  } else if (timed_out_) {
    Refuse({.status = 408, .message = "the request comes too slowly", .field = ""});
  }
}

void HttpSession::SetReadDeadline() {
  const HttpServerOptions& options = home_->options;
  const TimerWheel& wheel = home_->shard.wheel();
  const Phase phase = in_.empty() ? Phase::kIdle : parser_.in_body() ? Phase::kBody : Phase::kHead;
  if (phase != phase_) {
    phase_ = phase;
    phase_since_ = wheel.now();
    phase_bytes_ = 0;
  }
  switch (phase) {
    case Phase::kIdle:
      return SetDeadline(wheel.In(served_any_ ? options.idle_timeout : options.header_timeout));
    case Phase::kHead:
      return SetDeadline(phase_since_ + TimerWheel::kTick + options.header_timeout);
    case Phase::kBody:
      return SetDeadline(ProgressDeadline(phase_since_, phase_bytes_));
  }
}

TimerWheel::Time HttpSession::ProgressDeadline(TimerWheel::Time since, std::size_t bytes) const {
  const std::chrono::milliseconds earned(bytes * 1000 / limits::kMinBodyBytesPerSecond);
  const TimerWheel& wheel = home_->shard.wheel();
  return std::min(since + earned, wheel.now()) + TimerWheel::kTick + home_->options.header_timeout;
}

// Writes without waiting. False: some is left, or the client is gone.
bool HttpSession::TryFlush() {
  error_code error;
  out_begin_ +=
      socket_.write_some(asio::buffer(out_.data() + out_begin_, out_.size() - out_begin_), error);
  if (error && error != asio::error::would_block) gone_ = true;
  if (error || out_begin_ != out_.size()) return false;
  out_.clear();
  out_begin_ = 0;
  GiveBackIfLarge(out_);
  return true;
}

// Ends when all is written, or the client is gone or too slow.
Task<void> HttpSession::FlushSlowly() {
  const TimerWheel::Time since = home_->shard.wheel().now();
  std::size_t written = 0;
  while (!gone_ && !out_.empty()) {
    SetDeadline(ProgressDeadline(since, written));
    const auto [error, count] = co_await socket_.async_write_some(
        asio::buffer(out_.data() + out_begin_, out_.size() - out_begin_), kAwait);
    out_begin_ += count;
    written += count;
    if (error) gone_ = true;
    if (out_begin_ == out_.size()) {
      out_.clear();
      out_begin_ = 0;
      GiveBackIfLarge(out_);
    }
  }
}

// To close with bytes unread would reset the connection, and the client might lose the response.
// Ends when the client closes, has sent kMaxLingerBytes, or after kLingerTimeout.
Task<void> HttpSession::Linger() {
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  SetDeadline(home_->shard.wheel().In(limits::kLingerTimeout));
  in_.Consume(in_.size());
  std::size_t dropped = 0;
  while (dropped < limits::kMaxLingerBytes) {
    const auto room = in_.Room();
    const auto [error, count] =
        co_await socket_.async_read_some(asio::buffer(room.data(), room.size()), kAwait);
    if (error) break;
    dropped += count;
  }
}

void HttpSession::SetDeadline(TimerWheel::Time deadline) {
  timed_out_ = false;
  home_->shard.wheel().Set(*this, deadline);
}

// Whatever waits for the socket ends with operation_aborted.
void HttpSession::OnTimer() {
  timed_out_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void HttpSession::BeginDrain() {
  error_code ignored;
  if (waits_idle_) socket_.cancel(ignored);
}

void HttpSession::Abort() {
  gone_ = aborted_ = true;
  error_code ignored;
  socket_.close(ignored);
  paused_.reset();
}

}  // namespace brim::net

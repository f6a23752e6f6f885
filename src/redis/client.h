// A Redis or Valkey connection that looks after itself: it connects, signs in, pipelines, reloads
// scripts, keeps deadlines and reconnects. Knows nothing of limits. The rules are in pipeline.h;
// this is the thin loop that does what they say.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <brim/clock.h>
#include <brim/function.h>
#include <brim/result.h>
#include "base/limits.h"
#include "redis/client_stats.h"
#include "redis/command.h"
#include "redis/reply_error.h"
#include "redis/resp.h"
#include "redis/script.h"

namespace boost::asio {
class io_context;
}

namespace brim::redis {

struct Endpoint {
  std::string host = "127.0.0.1";  // a name or an address; v6 without brackets
  std::uint16_t port = 6379;
  std::string unix_path;  // if not empty: this unix socket instead
};

struct ClientOptions {
  Endpoint endpoint;
  std::string user;  // of an ACL user; empty: the default user
  std::string password;
  int db = 0;
  std::string client_name = "brim";
  Micros connect_timeout = limits::kConnectTimeout;  // until signed in
  Micros min_reconnect_delay = limits::kMinReconnectDelay;
  Micros max_reconnect_delay = limits::kMaxReconnectDelay;
  std::uint64_t jitter_seed = 0;  // two clients with different seeds do not reconnect in step
};

// Loop-bound: every call, the destructor included, on the thread that runs the io_context (or
// while nobody runs it). A Done may call Run and Eval, but must not destroy the client.
class Client {
 public:
  // Called exactly once, in a later turn of the loop or by the destructor, never from within Run
  // or Eval. The reply and its views are valid within the call. An error reply of the server is
  // an Error (see ReplyError).
  //   kUnavailable  surely not executed: no connection, not written in time, too many waiting
  //   kUnknown      written, but no reply in time or the connection was lost: it may have run
  using Done = MoveOnlyFunction<void(Result<Reply>)>;

  Client(boost::asio::io_context& io, ClientOptions options);
  // Completes all waiting commands first: written ones with kUnknown, others with kUnavailable.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connects in the background, and again whenever the connection is lost: after a random part of
  // min_reconnect_delay, doubling up to max_reconnect_delay. Call it once.
  void Start();

  // One encoded command. While no connection is ready it waits; once an attempt to connect has
  // failed, commands fail at once until one succeeds. All commands of one turn of the loop leave
  // in one write, in order.
  void Run(std::string command, Micros timeout, Done done);

  // The same for an EVALSHA of `script` (which outlives the client). If the server does not know
  // the script, it is loaded, once however many commands missed it, and these are sent again
  // within their deadlines: later than commands that were not missed, in order among themselves.
  void Eval(const Script& script, std::string command, Micros timeout, Done done);

  bool ready() const;  // connected and signed in
  ClientStats stats() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace brim::redis

// A Redis or Valkey connection that looks after itself: it connects, signs in, pipelines, reloads
// scripts, keeps deadlines and reconnects. Knows nothing of limits. The rules are in pipeline.h;
// this is the thin loop that does what they say.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <brim/clock.h>
#include "base/limits.h"
#include "redis/client_stats.h"
#include "redis/command.h"
#include "redis/endpoint.h"
#include "redis/link.h"
#include "redis/redirect.h"
#include "redis/reply_error.h"
#include "redis/resp.h"
#include "redis/script.h"
#include "redis/tls.h"

namespace brim::redis {

// Where the sentinels are that watch over a primary. A plain value.
struct SentinelOptions {
  std::vector<Endpoint> endpoints;  // at least one; all of them, so that any may be down
  std::string master_name;
  std::string user = {};  // of the sentinels, which have users of their own
  std::string password = {};
  std::optional<TlsOptions> tls = {};
};

struct ClientOptions {
  Endpoint endpoint;  // not used with sentinels or a cluster
  std::string user;   // of an ACL user; empty: the default user
  std::string password;
  int db = 0;
  std::optional<TlsOptions> tls = {};            // none: in the clear
  std::optional<SentinelOptions> sentinel = {};  // who tells where the primary is
  std::vector<Endpoint> cluster = {};            // of MakeLink: not empty: some nodes of a cluster
  std::string client_name = "brim";
  Micros connect_timeout = limits::kConnectTimeout;  // until signed in
  Micros min_reconnect_delay = limits::kMinReconnectDelay;
  Micros max_reconnect_delay = limits::kMaxReconnectDelay;
  std::uint64_t jitter_seed = 0;  // two clients with different seeds do not reconnect in step
  // Run at the end of each sign-in (of the first one: when there is a command), without keys, if
  // not null; it outlives the client. It answers the names of what this user may not run; it is
  // refused by a server that is no use now.
  const Script* self_test = nullptr;
};

// What the owner of several clients is told. Called on the loop; may ask any client, and must not
// destroy one.
struct ClientHooks {
  OnRedirect redirect = nullptr;         // null: MOVED and ASK are errors
  std::function<void()> lost = nullptr;  // a connection, or an attempt to connect
};

// Loop-bound: every call, the destructor included, on the thread that runs the io_context (or
// while nobody runs it). A Done may call Run and Eval, but must not destroy the client.
class Client final : public Link {
 public:
  Client(boost::asio::io_context& io, ClientOptions options, ClientHooks hooks = {});
  ~Client() override;

  // Connects in the background, and again whenever the connection is lost: after a random part of
  // min_reconnect_delay, doubling up to max_reconnect_delay.
  void Start() override;

  // While no connection is ready a command waits; once an attempt to connect has failed or a
  // command has waited in vain, all fail at once until one succeeds (pipeline.h has the rules). All
  // commands of one turn of the loop leave in one write, in order.
  void Run(std::string command, Micros timeout, Done done) override;
  void Eval(const Script& script, std::string command, Micros timeout, Done done) override;
  // What another node of the cluster sent here.
  void Forward(Redirected redirected);

  bool ready() const override;  // connected and signed in
  bool down() const;            // commands fail at once
  bool idle() const;            // nothing waits for a reply
  const Endpoint& endpoint() const;
  ClientStats stats() const override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// A Client, or for `options.cluster` a Cluster.
std::unique_ptr<Link> MakeLink(boost::asio::io_context& io, const ClientOptions& options);

}  // namespace brim::redis

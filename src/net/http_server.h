// An HTTP/1.1 server on the shards of the process: listeners, sessions, timeouts, drain. It knows
// nothing of limits; a door is its HttpHandler. Several servers may share the shards.
//
// Each shard accepts for itself (SO_REUSEPORT), and a connection stays on the shard that accepted
// it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <brim/result.h>
#include "base/limits.h"
#include "net/http.h"
#include "net/listen_address.h"
#include "net/shard.h"

namespace brim::net {

struct HttpServerOptions {
  std::size_t max_body_bytes = limits::kMaxBodyBytes;
  std::chrono::milliseconds header_timeout = limits::kHeaderTimeout;
  std::chrono::milliseconds idle_timeout = limits::kIdleTimeout;
  std::size_t max_connections = limits::kMaxConnections;  // per shard
};

struct HttpShard;
class HttpListener;

// Shards and handler must outlive it. Used by the thread that starts and stops the shards.
class HttpServer {
 public:
  HttpServer(Shards& shards, HttpHandler& handler, HttpServerOptions options = {});
  // Closes all that is still open. A handler that has not resumed yet may still do so: its request
  // and response live until then, and nothing is sent.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // May be called several times, before or after the shards are started. An Error names the
  // address.
  Result<void> Listen(const ListenAddress& address);

  // One a Listen, as bound: port 0 is replaced by the port that was taken.
  std::vector<std::string> addresses() const { return addresses_; }

  // Stops to accept, closes idle connections, and lets requests under way finish, each with
  // `Connection: close`. Returns when all are gone, or after `timeout`, when the rest is cut.
  void Drain(std::chrono::milliseconds timeout = limits::kDrainTimeout);

 private:
  void StopListening();
  // Calls `task(part)` for each shard, on its thread, and waits for all; in place when they do not
  // run.
  template <typename Task>
  void OnEachShard(Task task);

  Shards& shards_;
  std::vector<std::shared_ptr<HttpShard>> parts_;  // one a shard; its sessions share it
  std::vector<std::shared_ptr<HttpListener>> listeners_;
  std::vector<std::string> addresses_;
  std::vector<std::string> unix_paths_;  // removed when listening ends
};

}  // namespace brim::net

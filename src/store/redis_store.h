// Counters on one Redis (7.0 or newer) or Valkey server, shared by every process that uses it.
//
// A check is one EVALSHA, however many lines it has; checks that arrive in one turn of the loop
// leave in one write (src/redis). The server's clock decides, never ours.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include <brim/store.h>
#include "redis/client.h"
#include "redis/script.h"
#include "store/scripts.h"

namespace brim {

struct RedisStoreOptions {
  redis::ClientOptions client;
  RedisScripts scripts = ShippedScripts();
};

// Thread-safe.
class RedisStore final : public Store {
 public:
  // With a thread of its own.
  explicit RedisStore(const RedisStoreOptions& options);
  // On a loop of the caller's, who runs it in one thread. Calls from that thread take no hop. The
  // store must end in that thread, or after the loop has stopped.
  RedisStore(boost::asio::io_context& io, const RedisStoreOptions& options);
  ~RedisStore() override;

  void Run(const Request& request, Micros timeout, Done done) override;
  void RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) override;
  void Reset(std::span<const Key> keys, Micros timeout, ResetDone done) override;

  // Loop-bound.
  redis::ClientStats stats() const { return client_->stats(); }

 private:
  class OwnLoop;
  RedisStore(std::unique_ptr<OwnLoop> own_loop, boost::asio::io_context* io,
             const RedisStoreOptions& options);
  // One script call on its way: encoded here, sent and decoded on the loop.
  struct Call;
  Call Encode(const Request& request);
  void Send(Call call, Micros timeout, Done done);
  std::uint64_t NextNumber(Units members);
  const redis::Script& ScriptOf(Op op) const;

  const redis::Script take_logs_;
  const redis::Script take_;
  const redis::Script peek_;
  const redis::Script refund_;
  const std::array<char, 5> caller_;        // with the number: a member that no one else makes
  std::atomic<std::uint64_t> next_number_;  // 48 bits are used
  std::unique_ptr<OwnLoop> own_loop_;       // null on a caller's loop
  boost::asio::io_context& io_;
  std::atomic<bool> closing_ = false;
  std::unique_ptr<redis::Link> client_;  // used on the loop's thread alone
};

}  // namespace brim

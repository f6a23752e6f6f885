// Counters on one Redis (7.0 or newer) or Valkey server, shared by every process that uses it.
//
// A check is one EVALSHA, however many lines it has; checks that arrive in one turn of the loop
// leave in one write (src/redis). The server's clock decides, never ours. And it is asked less than
// once a check where that is as exact: equal takes share a call (merger.h), and a take that was
// refused does not ask again before it can fit (reject_memory.h).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>

#include <boost/asio/io_context.hpp>

#include <brim/store.h>
#include "redis/client.h"
#include "redis/script.h"
#include "store/member_numbers.h"
#include "store/redis_counts.h"
#include "store/reject_memory.h"
#include "store/scripts.h"

namespace brim {

class TakeSender;

struct RedisStoreOptions {
  redis::ClientOptions client;
  RedisScripts scripts = ShippedScripts();
  bool merges_takes = true;
  // How late it may be noticed that another process gives back, resets or raises; 0: refusals are
  // not remembered.
  Micros max_refusal_age = std::chrono::seconds(1);
  // For stores of one process that use one server: each then notices at once what another gives
  // back. Null: a memory of its own.
  std::shared_ptr<RejectMemory> refusals = nullptr;
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

  // Takes that are remembered as refused.
  bool TryNow(const Request& request, Taken& taken) override;
  void Run(const Request& request, Micros timeout, Done done) override;
  void RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) override;
  void Reset(std::span<const Key> keys, Micros timeout, ResetDone done) override;

  RedisStoreStats counts() const { return counts_.Read(refusals_->answered()); }
  // Loop-bound.
  redis::ClientStats stats() const { return client_->stats(); }

 private:
  class OwnLoop;
  RedisStore(std::unique_ptr<OwnLoop> own_loop, boost::asio::io_context* io,
             const RedisStoreOptions& options);
  // What is asked, on its way to the loop.
  struct Call;
  Call Encode(const Request& request);
  void Send(Call call, Micros timeout, Done done);
  const redis::Script& ScriptOf(Op op) const;

  const redis::Script take_logs_;
  const redis::Script take_;
  const redis::Script peek_;
  const redis::Script refund_;
  MemberNumbers numbers_;
  RedisCounts counts_;
  const std::shared_ptr<RejectMemory> refusals_;
  std::unique_ptr<OwnLoop> own_loop_;  // null on a caller's loop
  boost::asio::io_context& io_;
  std::atomic<bool> closing_ = false;
  // Used on the loop's thread alone. The sender sees the client's end.
  std::shared_ptr<TakeSender> sender_;
  std::unique_ptr<redis::Link> client_;
};

}  // namespace brim

// Counters on a Redis Cluster. A check whose keys lie in one slot is what it is on one server: keys
// carry the subject as hash tag, so that is every check but those with a line of another subject (a
// user's own limits beside a shared cap). Such a check goes slot by slot, in the order of its
// lines: charged group by group, and undone by receipt when a later group refuses. So it is never
// over a limit, and for the time of two round trips others may be refused a unit that comes back.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <brim/store.h>
#include "store/redis_store.h"

namespace brim {

// Thread-safe. A check over several slots is one atomic step in each of them, not in all.
class ClusterStore final : public Store {
 public:
  // The store must be one of a cluster (ClientOptions::cluster).
  explicit ClusterStore(std::unique_ptr<RedisStore> nodes);
  ~ClusterStore() override;

  void Run(const Request& request, Micros timeout, Done done) override;
  void RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) override;
  void Reset(std::span<const Key> keys, Micros timeout, ResetDone done) override;
  bool needs_hash_tag() const override { return true; }

 private:
  class SlotBySlot;
  std::unique_ptr<RedisStore> nodes_;
  std::atomic<std::uint64_t> next_number_;  // of the receipts of checks over several slots
};

}  // namespace brim

// The embedded store: counters in this process's memory. The default, and the fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <brim/clock.h>
#include <brim/store.h>

namespace brim {

struct MemoryStoreOptions {
  const Clock* clock = &DefaultClock();  // borrowed; must outlive the store
  // The most memory that keys and logs may take. Over it idle keys go first; a key that is
  // limited right now goes only when no other is left.
  std::size_t max_bytes = std::size_t{256} << 20;
};

// Answers every call at once, in the caller's thread (TryNow). Keys are striped over many shards,
// and a check locks just those of its keys. Time is the clock's monotonic time plus the wall offset
// at construction: a jump of the wall clock changes nothing. Thread-safe.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const MemoryStoreOptions& options = {});
  ~MemoryStore() override;

  bool TryNow(const Request& request, Taken& taken) override;
  bool TakeNow(std::span<SingleTake> takes) override;
  void Run(const Request& request, Micros timeout, Done done) override;
  void RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) override;
  void Reset(std::span<const Key> keys, Micros timeout, ResetDone done) override;

  struct Stats {
    std::size_t keys = 0;         // kept now, idle ones that were not yet swept included
    std::size_t bytes = 0;        // taken by keys and logs
    std::uint64_t evictions = 0;  // keys dropped for max_bytes before they were idle
  };
  Stats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace brim

// What a Redis store counts, for metrics.
#pragma once

#include <atomic>
#include <cstdint>

namespace brim {

// Since the start of the store. Without answered_here, checks - script_calls = merged.
struct RedisStoreStats {
  std::uint64_t checks = 0;         // takes, peeks, charges and refunds, however answered
  std::uint64_t script_calls = 0;   // EVALSHAs
  std::uint64_t merged = 0;         // takes that rode in the call of another
  std::uint64_t answered_here = 0;  // refusals from memory; of all stores that share it
};

// Thread-safe.
class RedisCounts {
 public:
  void AddCall(std::uint64_t checks) {
    script_calls_.fetch_add(1, std::memory_order_relaxed);
    merged_.fetch_add(checks - 1, std::memory_order_relaxed);
  }
  RedisStoreStats Read(std::uint64_t answered_here) const {
    const std::uint64_t calls = script_calls_.load(std::memory_order_relaxed);
    const std::uint64_t merged = merged_.load(std::memory_order_relaxed);
    return {calls + merged + answered_here, calls, merged, answered_here};
  }

 private:
  std::atomic<std::uint64_t> script_calls_ = 0;
  std::atomic<std::uint64_t> merged_ = 0;
};

}  // namespace brim

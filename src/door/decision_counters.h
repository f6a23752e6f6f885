// How many decisions there were, for /metrics. Each shard counts for itself; readers add up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <brim/decision.h>
#include "net/shard.h"

namespace brim::door {

// Thread-safe. Relaxed: each is a plain count, and orders nothing.
class DecisionCounters {
 public:
  static constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kInvalidLimit) + 1;

  explicit DecisionCounters(std::size_t shards) : parts_(shards + 1) {}

  void Add(Reason reason) {
    // The part behind the last shard's is for threads that are no shard.
    const int shard = net::Shard::CurrentIndex();
    Part& part = shard < 0 ? parts_.back() : parts_[static_cast<std::size_t>(shard)];
    part.counts[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }

  std::uint64_t Sum(Reason reason) const {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) {
      sum += part.counts[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  struct alignas(64) Part {  // a cache line apart: shards do not slow each other
    std::array<std::atomic<std::uint64_t>, kReasons> counts{};
  };
  std::vector<Part> parts_;
};

}  // namespace brim::door

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
  static constexpr std::size_t kStoreErrors = static_cast<std::size_t>(StoreError::kSetup) + 1;

  struct Counts {
    std::array<std::uint64_t, kReasons> by_reason{};
    std::array<std::uint64_t, kStoreErrors> by_store_error{};  // kNone included
    std::uint64_t would_deny = 0;  // checks that a shadow limit would have refused
  };

  explicit DecisionCounters(std::size_t shards) : parts_(shards + 1) {}

  void Add(const Decision& decision) {
    // The part behind the last shard's is for threads that are no shard.
    const int shard = net::Shard::CurrentIndex();
    Part& part = shard < 0 ? parts_.back() : parts_[static_cast<std::size_t>(shard)];
    Count(part.by_reason[static_cast<std::size_t>(decision.reason)]);
    if (decision.store_error != StoreError::kNone) {
      Count(part.by_store_error[static_cast<std::size_t>(decision.store_error)]);
    }
    for (const LineDecision& line : decision.lines) {
      if (line.would_deny()) return Count(part.would_deny);
    }
  }

  Counts Sum() const {
    Counts sum;
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < kReasons; ++i) sum.by_reason[i] += Read(part.by_reason[i]);
      for (std::size_t i = 0; i < kStoreErrors; ++i) {
        sum.by_store_error[i] += Read(part.by_store_error[i]);
      }
      sum.would_deny += Read(part.would_deny);
    }
    return sum;
  }

 private:
  using Counter = std::atomic<std::uint64_t>;
  static void Count(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }
  static std::uint64_t Read(const Counter& counter) {
    return counter.load(std::memory_order_relaxed);
  }

  struct alignas(64) Part {  // a cache line apart: shards do not slow each other
    std::array<Counter, kReasons> by_reason{};
    std::array<Counter, kStoreErrors> by_store_error{};
    Counter would_deny{0};
  };
  std::vector<Part> parts_;
};

}  // namespace brim::door

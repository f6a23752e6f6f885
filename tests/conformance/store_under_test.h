// A store whose time the test moves, of any kind: so that one table of scripts is played on all of
// them.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include <brim/store.h>

namespace brim::testing {

enum class StoreKind { kMemory, kRedis, kValkey };

inline std::ostream& operator<<(std::ostream& out, StoreKind kind) {
  return out << (kind == StoreKind::kMemory  ? "Memory"
                 : kind == StoreKind::kRedis ? "Redis"
                                             : "Valkey");
}

class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual Store& store() = 0;
  // Sets the store's time. A memory store's only goes forward.
  virtual void SetTime(Micros since_start) = 0;
  // Takes the TTL off every key, as a broken tool or a restore would. Nothing to do in memory.
  virtual void LoseTtls() {}
};

// Servers are shared by all tests of a process; each call begins with an empty store at time 0.
std::unique_ptr<StoreUnderTest> MakeStoreUnderTest(StoreKind kind);

}  // namespace brim::testing

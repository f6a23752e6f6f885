#include "store/memory_hash.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/memory_shard.h"

namespace brim {
namespace {

// From OpenSSL's SIPHASH (size 16, 1 and 3 rounds), key bytes 00 01 ... 0f.
TEST(KeyHasherTest, IsSipHash13With128Bits) {
  const KeyHasher hash(0x0706050403020100, 0x0f0e0d0c0b0a0908);
  const auto expect = [&](std::string_view key, std::uint64_t low, std::uint64_t high) {
    EXPECT_EQ(hash(key).low, __builtin_bswap64(low)) << key;
    EXPECT_EQ(hash(key).high, __builtin_bswap64(high)) << key;
  };
  expect("", 0xE77EBCB22788A5BE, 0xFD62DB6ADD303001);
  expect("a", 0x083C37DE637C4FA8, 0x492FD75D37AE8A67);
  expect("0123456789abcdef", 0xD0BD3AABD4AA1400, 0x2A4FC8B27FCFD44A);
  expect("ratelimit:user_8421:60", 0x7B7EE69B05CB9711, 0xC9027EEB388F44BB);
}

TEST(KeyHasherTest, DependsOnTheSecret) {
  EXPECT_NE(KeyHasher(1, 2)("key"), KeyHasher(1, 3)("key"));
  EXPECT_NE(KeyHasher(1, 2)("key"), KeyHasher(2, 2)("key"));
}

double MeanProbes(const std::vector<std::string>& keys) {
  MemoryBudget budget(SIZE_MAX);
  Shard shard;
  shard.Attach(budget);
  const KeyHasher hasher(0x243f6a8885a308d3, 0x13198a2e03707344);
  const Limit limit = Limit::Create({.units = 5, .window = std::chrono::seconds(60)}).value();
  for (const std::string& key : keys) {
    Slot& slot = shard.Insert(hasher(key), KindOf(limit), 0);
    shard.Charge(slot, limit, 1, MemoryTime{}, {.fit = Fit::kFits});
  }
  double probes = 0;
  for (const std::string& key : keys) probes += shard.ProbesForTest(hasher(key));
  return probes / static_cast<double>(keys.size());
}

// Ids chosen to meet in one bucket of a table that hashes with std::hash.
TEST(MemoryShardTest, R23_IdsThatCollideUnderTheStandardHashProbeLikeOthers) {
  std::vector<std::string> plain;
  std::vector<std::string> colliding;
  for (int n = 0; colliding.size() < 1000; ++n) {
    std::string key = "ratelimit:user_" + std::to_string(n) + ":60";
    if (plain.size() < 1000) plain.push_back(key);
    if (std::hash<std::string>()(key) % 1024 == 0) colliding.push_back(std::move(key));
  }
  const double probes = MeanProbes(colliding);
  EXPECT_LT(probes, 2 * MeanProbes(plain));
  EXPECT_LT(probes, 4);
}

}  // namespace
}  // namespace brim

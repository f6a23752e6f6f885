#include "store/memory_hash.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/memory_shard.h"

namespace brim {
namespace {

KeyHasher::Secrets SecretsFrom(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  KeyHasher::Secrets secrets;
  for (std::uint64_t& secret : secrets) secret = random();
  return secrets;
}

std::string RandomBytes(std::mt19937_64& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Every byte counts wherever it stands, and so does the length, zeros at the end included.
TEST(KeyHasherTest, EveryByteAndTheLengthCount) {
  const KeyHasher hash(SecretsFrom(1));
  std::mt19937_64 random(2);
  for (std::size_t size = 0; size <= kMaxKeyBytes; ++size) {
    const std::string key = RandomBytes(random, size);
    const KeyHash expected = hash(key);
    EXPECT_EQ(hash(std::string(key)), expected);
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = key;
      other[i] = static_cast<char>(other[i] ^ (1 << (i % 8)));
      EXPECT_NE(hash(other).low, expected.low) << size << ", byte " << i;
      EXPECT_NE(hash(other).high, expected.high) << size << ", byte " << i;
    }
    if (size == kMaxKeyBytes) continue;
    EXPECT_NE(hash(key + '\0').low, expected.low) << size;
    EXPECT_NE(hash(key + '\0').high, expected.high) << size;
  }
}

TEST(KeyHasherTest, DependsOnTheSecrets) {
  EXPECT_NE(KeyHasher(SecretsFrom(1))("key"), KeyHasher(SecretsFrom(2))("key"));
  KeyHasher::Secrets secrets = SecretsFrom(1);
  const KeyHash before = KeyHasher(secrets)("key");
  secrets[3] ^= 1;  // the half under the later words alone
  EXPECT_EQ(KeyHasher(secrets)("key").low, before.low);
  EXPECT_NE(KeyHasher(secrets)("key").high, before.high);
}

// Keys that differ in a few bits fall as evenly into 4,096 buckets, by each part of the hash that
// the store uses, as chance would have it: chi squared of 4,095 degrees has a mean of 4,095 and a
// deviation of 90.
TEST(KeyHasherTest, SpreadsKeysThatAreAlike) {
  const KeyHasher hash(SecretsFrom(3));
  constexpr std::size_t kBuckets = 4096;
  constexpr std::size_t kKeys = 200 * kBuckets;
  std::vector<std::vector<int>> counts(4, std::vector<int>(kBuckets));
  for (std::size_t n = 0; n < kKeys; ++n) {
    const KeyHash id = hash("ratelimit:user_" + std::to_string(n) + ":60");
    const std::uint64_t parts[] = {id.low, id.low >> 52, id.high, id.high >> 52};
    for (std::size_t part = 0; part < counts.size(); ++part) ++counts[part][parts[part] % kBuckets];
  }
  for (const std::vector<int>& buckets : counts) {
    double chi_squared = 0;
    for (const int count : buckets) chi_squared += (count - 200.0) * (count - 200.0) / 200.0;
    EXPECT_NEAR(chi_squared, kBuckets - 1, 6 * 90);
  }
}

double MeanProbes(const std::vector<std::string>& keys) {
  MemoryBudget budget(SIZE_MAX);
  Shard shard;
  shard.Attach(budget);
  const KeyHasher hasher(SecretsFrom(4));
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

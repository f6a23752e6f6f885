// How the Redis store names a check: by 128 bits of a keyed hash over the names of its keys, its
// limits and its costs, line by line. memory_hash.h says why that is enough. Equal names: the same
// keys in the same order, under the same limits, at the same costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

#include <brim/static_vector.h>
#include <brim/store.h>
#include "store/memory_hash.h"

namespace brim {

struct CheckName {
  KeyHash check;
  StaticVector<KeyHash, kMaxLines> keys;
};

// A plain value with a secret of its own: names of two namers do not compare.
class CheckNamer {
 public:
  CheckNamer() : hash_(RandomSecrets()) {}

  KeyHash NameOf(const Key& key) const { return hash_(key.view()); }

  CheckName NameOf(std::span<const Line> lines) const {
    CheckName name;
    for (const Line& line : lines) {
      const KeyHash& key = name.keys.push_back(NameOf(line.key));
      const Limit& limit = line.limit;
      const std::uint64_t kind = static_cast<std::uint64_t>(limit.algorithm()) |
                                 static_cast<std::uint64_t>(limit.anchor()) << 8 |
                                 static_cast<std::uint64_t>(limit.count()) << 16 |
                                 static_cast<std::uint64_t>(limit.mode()) << 24 |
                                 std::uint64_t{limit.weighted()} << 32;
      const std::array<std::uint64_t, 9> words = {
          name.check.high,
          name.check.low,
          key.high,
          key.low,
          kind,
          static_cast<std::uint64_t>(limit.units()),
          static_cast<std::uint64_t>(limit.burst()),
          static_cast<std::uint64_t>(limit.window().count()),
          static_cast<std::uint64_t>(line.cost)};
      name.check = hash_({reinterpret_cast<const char*>(words.data()), sizeof(words)});
    }
    return name;
  }

 private:
  static KeyHasher::Secrets RandomSecrets() {
    std::random_device random;
    KeyHasher::Secrets secrets;
    for (std::uint64_t& secret : secrets) secret = std::uint64_t{random()} << 32 | random();
    return secrets;
  }

  KeyHasher hash_;
};

}  // namespace brim

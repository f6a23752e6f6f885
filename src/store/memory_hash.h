// How the embedded store names a key: by 128 bits of a keyed hash, under secrets of the store.
//
// The key itself is not kept. Each half is NH (Black, Halevi, Krawczyk, Krovetz and Rogaway, "UMAC:
// fast and secure message authentication", 1999): pairs of words are added to secret words and
// multiplied, and the products and the length summed up to 128 bits, which one more multiplication
// folds to 64. Whatever keys somebody chooses, two of them meet in a half with a chance of about
// 2^-64, and the other half, under secret words that stand one pair further on (Toeplitz), is as
// good as independent. So among a million keys the chance that any two meet is about 2^-89: far
// below that of a memory error that the machine does not notice. The secrets are drawn when the
// store is made and never leave it, so nobody can aim at a collision, or at a long probe sequence.
// Rejected: SipHash-1-3, as good, and three times as slow on keys of this length; and any hash
// without a secret.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <brim/store.h>

namespace brim {

struct KeyHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const KeyHash&) const = default;
};

// Hashes keys of up to kMaxKeyBytes. A plain value.
class KeyHasher {
 public:
  static constexpr std::size_t kSecrets = kMaxKeyBytes / 8 + 2;
  using Secrets = std::array<std::uint64_t, kSecrets>;

  explicit KeyHasher(const Secrets& secrets) : secrets_(secrets) {}

  KeyHash operator()(std::string_view key) const {
    Sum low = key.size();
    Sum high = key.size();
    const std::uint64_t* secret = secrets_.data();
    const auto absorb = [&](std::uint64_t one, std::uint64_t other) {
      low += Sum{one + secret[0]} * (other + secret[1]);
      high += Sum{one + secret[2]} * (other + secret[3]);
      secret += 2;
    };
    const char* at = key.data();
    const char* const end = at + key.size();
    for (; end - at >= 16; at += 16) absorb(LoadLittle(at), LoadLittle(at + 8));
    if (end - at >= 8) {
      absorb(LoadLittle(at), LoadRest(key, at + 8));
    } else if (at != end) {
      absorb(LoadRest(key, at), 0);
    }
    return {Fold(high), Fold(low)};
  }

 private:
  using Sum = unsigned __int128;

  static std::uint64_t Fold(Sum sum) {
    const auto low = static_cast<std::uint64_t>(sum);
    const auto high = static_cast<std::uint64_t>(sum >> 64);
    const Sum product = Sum{low ^ 0x9e3779b97f4a7c15} * (high ^ 0xd1b54a32d192ed03);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  // 8 bytes, the first the lowest.
  static std::uint64_t LoadLittle(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
  }
  // The less than 8 bytes from `at` on: the end of the last 8, if there are 8.
  static std::uint64_t LoadRest(std::string_view key, const char* at) {
    const auto left = static_cast<std::size_t>(key.data() + key.size() - at);
    if (left == 0) return 0;
    if (key.size() >= 8) return LoadLittle(at + left - 8) >> (64 - 8 * left);
    std::uint64_t word = 0;
    for (std::size_t i = left; i != 0;) word = word << 8 | static_cast<unsigned char>(at[--i]);
    return word;
  }

  Secrets secrets_;
};

}  // namespace brim

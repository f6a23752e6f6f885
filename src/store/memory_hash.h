// How the embedded store names a key: by 128 bits of SipHash-1-3 under a secret of the store.
//
// The key itself is not kept. Among a million keys the chance that any two meet is 2^-89 (10^12 / 2
// pairs, each 2^-128): far below that of a memory error that the machine does not notice. Nor can
// anybody aim at a collision, or at a long probe sequence: the secret is drawn when the store is
// made and never leaves it. Rejected: a faster unkeyed or multiply-only hash, which a client who
// chooses his ids can steer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace brim {

struct KeyHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const KeyHash&) const = default;
};

// A plain value.
class KeyHasher {
 public:
  KeyHasher(std::uint64_t secret0, std::uint64_t secret1) : secret0_(secret0), secret1_(secret1) {}

  // Apart from its callers, so that its state stays in registers.
  [[gnu::noinline]] KeyHash operator()(std::string_view key) const {
    State state{secret0_ ^ 0x736f6d6570736575, secret1_ ^ 0x646f72616e646f6d ^ 0xee,
                secret0_ ^ 0x6c7967656e657261, secret1_ ^ 0x7465646279746573};
    const char* at = key.data();
    const char* const end = at + key.size();
    for (; end - at >= 8; at += 8) state.Absorb(LoadLittle(at));
    state.Absorb(LoadRest(key, at) | std::uint64_t{key.size()} << 56);
    state.v2 ^= 0xee;
    KeyHash hash;
    hash.low = state.Finish();
    state.v1 ^= 0xdd;
    hash.high = state.Finish();
    return hash;
  }

 private:
  struct State {
    std::uint64_t v0, v1, v2, v3;

    void Round() {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
    void Absorb(std::uint64_t word) {
      v3 ^= word;
      Round();
      v0 ^= word;
    }
    std::uint64_t Finish() {
      Round();
      Round();
      Round();
      return v0 ^ v1 ^ v2 ^ v3;
    }
  };

  // 8 bytes, the first the lowest.
  static std::uint64_t LoadLittle(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
  }
  // The less than 8 bytes that are left from `at` on: the end of the last 8, if there are 8.
  static std::uint64_t LoadRest(std::string_view key, const char* at) {
    const auto left = static_cast<std::size_t>(key.data() + key.size() - at);
    if (left == 0) return 0;
    if (key.size() >= 8) return LoadLittle(at + left - 8) >> (64 - 8 * left);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < left; ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    }
    return word;
  }

  std::uint64_t secret0_;
  std::uint64_t secret1_;
};

}  // namespace brim

// Who holds which API key. A key is kept as a keyed hash: whoever reads the table has no key, and
// cannot try keys without its secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <brim/result.h>

namespace brim {

// HMAC-SHA-256.
using ApiKeyHash = std::array<std::uint8_t, 32>;

struct ApiKeyEntry {
  std::string subject;
  std::string tier;  // empty: the default one
};

// Immutable once it is filled. Thread-safe then.
class ApiKeyTable {
 public:
  static constexpr std::size_t kMinSecretBytes = 16;

  // `secret` is any bytes, at least kMinSecretBytes.
  explicit ApiKeyTable(std::string secret) : secret_(std::move(secret)) {}

  // kSetup if the crypto library gives no HMAC.
  Result<ApiKeyHash> Hash(std::string_view key) const;
  // False if the key is there already.
  bool Add(const ApiKeyHash& hash, ApiKeyEntry entry);

  // The entry of the key; null if there is none. Hashes are compared in constant time, and without
  // the secret nobody can choose one that comes near.
  const ApiKeyEntry* Find(std::string_view key) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Spread {  // a hash is evenly spread by itself
    std::size_t operator()(const ApiKeyHash& hash) const;
  };
  struct Same {
    bool operator()(const ApiKeyHash& a, const ApiKeyHash& b) const;
  };

  std::string secret_;
  std::unordered_map<ApiKeyHash, ApiKeyEntry, Spread, Same> entries_;
};

}  // namespace brim

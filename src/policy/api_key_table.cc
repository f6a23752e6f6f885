#include "policy/api_key_table.h"

#include <cstring>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace brim {

Result<ApiKeyHash> ApiKeyTable::Hash(std::string_view key) const {
  ApiKeyHash hash;
  unsigned int size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(key.data());
  if (HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), bytes, key.size(),
           hash.data(), &size) == nullptr ||
      size != hash.size()) {
    return Error{ErrorCode::kSetup, "OpenSSL gives no HMAC-SHA-256: mend its installation", ""};
  }
  return hash;
}

bool ApiKeyTable::Add(const ApiKeyHash& hash, ApiKeyEntry entry) {
  return entries_.emplace(hash, std::move(entry)).second;
}

const ApiKeyEntry* ApiKeyTable::Find(std::string_view key) const {
  const auto hash = Hash(key);
  if (!hash) return nullptr;
  const auto found = entries_.find(*hash);
  return found == entries_.end() ? nullptr : &found->second;
}

std::size_t ApiKeyTable::Spread::operator()(const ApiKeyHash& hash) const {
  std::size_t first;
  std::memcpy(&first, hash.data(), sizeof(first));
  return first;
}

bool ApiKeyTable::Same::operator()(const ApiKeyHash& a, const ApiKeyHash& b) const {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace brim

#include "redis/script.h"

#include <utility>

#include <openssl/evp.h>

#include "base/assert.h"
#include "base/text.h"

namespace brim::redis {
namespace {

std::string Sha1Hex(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr);
  BRIM_ASSERT(done == 1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) AppendHex(digest[i], hex);
  return hex;
}

}  // namespace

Script::Script(std::string text) : text_(std::move(text)), sha1_(Sha1Hex(text_)) {}

}  // namespace brim::redis

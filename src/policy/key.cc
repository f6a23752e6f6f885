#include "policy/key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <openssl/evp.h>

#include "base/limits.h"

namespace brim {
namespace {

constexpr std::size_t kDigestBytes = 16;  // of SHA-256's 32
constexpr std::string_view kHashMark = "%h";

// Every key fits: prefix:{subject}:scope:window:counter
static_assert(std::string_view(":31622399999ms:counter").size() <= sizeof(KeySuffix::bytes));
static_assert(limits::kMaxPrefixBytes + 1 + (1 + limits::kMaxSubjectBytes + 1) + 1 +
                  limits::kMaxScopeBytes + sizeof(KeySuffix) <=
              kMaxKeyBytes);
static_assert(kHashMark.size() + 2 * kDigestBytes <=
              std::min(limits::kMaxScopeBytes, limits::kMaxSubjectBytes));
static_assert(Limit::kMaxWindow == std::chrono::milliseconds(31'622'400'000));

constexpr bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// Indexed by byte: how many bytes it takes beyond itself when encoded.
constexpr std::array<std::uint8_t, 256> kExtraBytes = [] {
  std::array<std::uint8_t, 256> extra{};
  for (std::size_t byte = 0; byte < extra.size(); ++byte) {
    const bool printable = byte >= 0x20 && byte <= 0x7e;
    const bool special = byte == ':' || byte == '{' || byte == '}' || byte == '%';
    extra[byte] = printable && !special ? 0 : 2;
  }
  return extra;
}();

std::uint8_t ExtraOf(char c) { return kExtraBytes[static_cast<unsigned char>(c)]; }

// Writes a key where it is to stand, without a check for room: every key fits.
class Writer {
 public:
  explicit Writer(char* out) : begin_(out), at_(out) {}
  std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }

  void Append(char c) { *at_++ = c; }
  void Append(std::string_view text) {
    for (const char c : text) Append(c);
  }
  // The first `count` of kBytes bytes. All are copied, as that takes a few instructions, and a copy
  // of `count` a call.
  template <std::size_t kBytes>
  void AppendFirst(const char (&bytes)[kBytes], std::size_t count) {
    std::memcpy(at_, bytes, kBytes);
    at_ += count;
  }
  void AppendHex(unsigned char byte, const char* digits) {
    Append(digits[byte >> 4]);
    Append(digits[byte & 15]);
  }
  // Appends a part as it is, unless some of its bytes may not stand for themselves.
  bool AppendIfPlain(std::string_view part) {
    if (!CopyIfPlain(part.data(), part.size(), at_)) return false;
    at_ += part.size();
    return true;
  }

 private:
  using Word = std::uint64_t;
  typedef Word Words __attribute__((vector_size(16)));
  typedef unsigned char Chunk __attribute__((vector_size(16)));

  static bool CopyIfPlain(const char* from, std::size_t size, char* to) {
    if (size < sizeof(Word)) {
      bool plain = true;
      for (std::size_t i = 0; i < size; ++i) {
        plain = plain && ExtraOf(from[i]) == 0;
        to[i] = from[i];
      }
      return plain;
    }
    if (size < sizeof(Chunk)) {  // two words that may overlap
      const Words words = {CopyWord(from, to),
                           CopyWord(from + size - sizeof(Word), to + size - sizeof(Word))};
      return IsZero(Special(std::bit_cast<Chunk>(words)));
    }
    const std::size_t last = size - sizeof(Chunk);
    Chunk special = CopyChunk(from + last, to + last);
    for (std::size_t i = 0; i < last; i += sizeof(Chunk)) {
      special |= CopyChunk(from + i, to + i);
    }
    return IsZero(special);
  }
  static Word CopyWord(const char* from, char* to) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    std::memcpy(to, &word, sizeof(word));
    return word;
  }
  static Chunk CopyChunk(const char* from, char* to) {
    Chunk chunk;
    std::memcpy(&chunk, from, sizeof(chunk));
    std::memcpy(to, &chunk, sizeof(chunk));
    return Special(chunk);
  }
  // All bits of each byte that does not stand for itself, which kExtraBytes tells one by one.
  static Chunk Special(Chunk bytes) {
    return std::bit_cast<Chunk>((bytes - 0x20 > 0x7e - 0x20) | (bytes == ':') | (bytes == '{') |
                                (bytes == '}') | (bytes == '%'));
  }
  static bool IsZero(Chunk chunk) {
    const auto words = std::bit_cast<Words>(chunk);
    return (words[0] | words[1]) == 0;
  }

  const char* const begin_;
  char* at_;
};

bool AppendHash(Writer& key, std::string_view part) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (EVP_Digest(part.data(), part.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    return false;
  }
  key.Append(kHashMark);
  for (std::size_t i = 0; i < kDigestBytes; ++i) key.AppendHex(digest[i], "0123456789abcdef");
  return true;
}

// The way of parts that are long or hold special bytes. Out of line: the other way is the hot one.
[[gnu::noinline]] bool AppendChanged(Writer& key, std::string_view part, std::size_t max_bytes) {
  if (part.size() > max_bytes) return AppendHash(key, part);
  std::size_t bytes = part.size();
  for (const char c : part) bytes += ExtraOf(c);
  if (bytes > max_bytes) return AppendHash(key, part);
  for (const char c : part) {
    if (ExtraOf(c) == 0) {
      key.Append(c);
    } else {
      key.Append('%');
      key.AppendHex(static_cast<unsigned char>(c), "0123456789ABCDEF");
    }
  }
  return true;
}

// False if the part had to be hashed and could not.
bool AppendPart(Writer& key, std::string_view part, std::size_t max_bytes) {
  if (part.size() <= max_bytes && key.AppendIfPlain(part)) [[likely]]
    return true;
  return AppendChanged(key, part, max_bytes);
}

Error Invalid(std::string_view field, std::string message) {
  return {ErrorCode::kInvalid, std::move(message), std::string(field)};
}

}  // namespace

Result<void> ValidateKeyOptions(const KeyOptions& options) {
  const std::string_view prefix = options.prefix;
  const bool known_bytes = std::all_of(prefix.begin(), prefix.end(), [](char c) {
    return IsAlphanumeric(c) || std::string_view("_.:-").find(c) != std::string_view::npos;
  });
  if (prefix.empty() || prefix.size() > limits::kMaxPrefixBytes || !known_bytes) {
    return Invalid("key_prefix", "use 1 to " + std::to_string(limits::kMaxPrefixBytes) +
                                     " letters, digits and _.:- like \"ratelimit\"");
  }
  if (prefix.back() == ':') {
    return Invalid("key_prefix", "leave out the ':' at the end: brim sets it behind the prefix");
  }
  return {};
}

KeyEncoder::KeyEncoder(const KeyOptions& options) : hash_tag_(options.hash_tag) {
  const std::string lead =
      options.prefix.substr(0, limits::kMaxPrefixBytes) + (hash_tag_ ? ":{" : ":");
  lead_size_ = static_cast<std::uint8_t>(lead.copy(lead_, sizeof(lead_)));
}

std::size_t KeyEncoder::Write(std::string_view subject, std::string_view scope, const Limit& limit,
                              char* out) const {
  const bool plain = limit.key() == KeyForm::kPlain;
  if (subject.empty() || (plain && !scope.empty())) return 0;
  Writer key(out);
  key.AppendFirst(lead_, lead_size_);
  if (!AppendPart(key, subject, limits::kMaxSubjectBytes)) return 0;
  if (hash_tag_) key.Append('}');
  if (!scope.empty()) {
    key.Append(':');
    if (!AppendPart(key, scope, limits::kMaxScopeBytes)) return 0;
  }
  const auto& [suffix, suffix_size] = limit.key_suffix();
  key.AppendFirst(suffix, suffix_size);
  return key.size();
}

Result<Key> KeyEncoder::Build(std::string_view subject, std::string_view scope,
                              const Limit& limit) const {
  char bytes[kMaxKeyBytes];
  if (const std::size_t size = Write(subject, scope, limit, bytes); size != 0) {
    Key key;
    key.Append({bytes, size});
    return key;
  }
  if (subject.empty()) return Invalid("subject", "it is empty: name who is limited");
  if (limit.key() == KeyForm::kPlain && !scope.empty()) {
    return Invalid("scope", "a limit with key: plain has no scope: leave it out, or use full keys");
  }
  return Error{ErrorCode::kSetup, "cannot shorten a long subject or scope: OpenSSL has no SHA-256",
               ""};
}

}  // namespace brim

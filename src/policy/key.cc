#include "policy/key.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <openssl/evp.h>

#include "base/limits.h"

namespace brim {
namespace {

constexpr std::size_t kDigestBytes = 16;  // of SHA-256's 32
constexpr std::string_view kHashMark = "%h";
constexpr std::size_t kMaxWindowBytes =
    std::string_view("31622399999ms").size();  // 366 days less 1 ms
constexpr std::size_t kMaxSuffixBytes = std::string_view(":counter").size();

// Every key fits: prefix:{subject}:scope:window:counter
static_assert(limits::kMaxPrefixBytes + 1 + (1 + limits::kMaxSubjectBytes + 1) + 1 +
                  limits::kMaxScopeBytes + 1 + kMaxWindowBytes + kMaxSuffixBytes <=
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

bool StandsForItself(std::string_view part) {
  return std::all_of(part.begin(), part.end(), [](char c) { return ExtraOf(c) == 0; });
}

void AppendHex(Key& key, unsigned char byte, const char* digits) {
  const char hex[] = {digits[byte >> 4], digits[byte & 15]};
  key.Append({hex, sizeof hex});
}

bool AppendHash(Key& key, std::string_view part) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (EVP_Digest(part.data(), part.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    return false;
  }
  key.Append(kHashMark);
  for (std::size_t i = 0; i < kDigestBytes; ++i) AppendHex(key, digest[i], "0123456789abcdef");
  return true;
}

// The way of parts that are long or hold special bytes. Out of line: the other way is the hot one.
[[gnu::noinline]] bool AppendChanged(Key& key, std::string_view part, std::size_t max_bytes) {
  if (part.size() > max_bytes) return AppendHash(key, part);
  std::size_t bytes = part.size();
  for (const char c : part) bytes += ExtraOf(c);
  if (bytes > max_bytes) return AppendHash(key, part);
  for (const char& c : part) {
    if (ExtraOf(c) == 0) {
      key.Append({&c, 1});
    } else {
      key.Append("%");
      AppendHex(key, static_cast<unsigned char>(c), "0123456789ABCDEF");
    }
  }
  return true;
}

// False if the part had to be hashed and could not.
bool AppendPart(Key& key, std::string_view part, std::size_t max_bytes) {
  if (part.size() > max_bytes || !StandsForItself(part)) [[unlikely]] {
    return AppendChanged(key, part, max_bytes);
  }
  key.Append(part);
  return true;
}

void AppendWindow(Key& key, Micros window) {
  constexpr Micros kSecond = std::chrono::seconds(1);
  const bool whole = window % kSecond == Micros{0};
  char text[1 + kMaxWindowBytes] = {':'};
  const std::int64_t number =
      whole ? window / kSecond : window / Micros(std::chrono::milliseconds(1));
  const char* end = std::to_chars(text + 1, std::end(text), number).ptr;
  key.Append({text, static_cast<std::size_t>(end - text)});
  if (!whole) key.Append("ms");
}

void AppendSuffix(Key& key, const Limit& limit) {
  switch (limit.algorithm()) {
    case Algorithm::kSlidingWindow:
      return key.Append(limit.weighted() ? ":w" : "");
    case Algorithm::kFixedWindow:
      return key.Append(":fixed");
    case Algorithm::kTokenBucket:
      return key.Append(":gcra");
    case Algorithm::kSlidingWindowCounter:
      return key.Append(":counter");
  }
}

bool FillKey(Key& key, const KeyOptions& options, std::string_view subject, std::string_view scope,
             const Limit& limit) {
  key.Append(options.prefix);
  key.Append(options.hash_tag ? ":{" : ":");
  if (!AppendPart(key, subject, limits::kMaxSubjectBytes)) return false;
  if (options.hash_tag) key.Append("}");
  if (limit.key() == KeyForm::kPlain) return true;
  if (!scope.empty()) {
    key.Append(":");
    if (!AppendPart(key, scope, limits::kMaxScopeBytes)) return false;
  }
  AppendWindow(key, limit.window());
  AppendSuffix(key, limit);
  return true;
}

// Fills the key where the caller gets it: copying it twice into a Result costs as much as building
// it.
Result<Key> MakeKey(const KeyOptions& options, std::string_view subject, std::string_view scope,
                    const Limit& limit) {
  Key empty;
  Result<Key> key(empty);
  if (!FillKey(*key, options, subject, scope, limit)) {
    key = Error{ErrorCode::kSetup, "cannot shorten a long subject or scope: OpenSSL has no SHA-256",
                ""};
  }
  return key;
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

Result<Key> BuildKey(const KeyOptions& options, std::string_view subject, std::string_view scope,
                     const Limit& limit) {
  if (subject.empty()) return Invalid("subject", "it is empty: name who is limited");
  if (limit.key() == KeyForm::kPlain && !scope.empty()) {
    return Invalid("scope", "a limit with key: plain has no scope: leave it out, or use full keys");
  }
  return MakeKey(options, subject, scope, limit);
}

}  // namespace brim

// The name a store counts under, made of who (the subject), what (the scope) and the limit:
//
//   ratelimit:user_8421:60             sliding window of 60 s
//   ratelimit:user_8421:chat:1500ms    with a scope; a window that is not whole seconds
//   ratelimit:user_8421:60:fixed       fixed window; :gcra, :counter, and :w for a weighted log
//   ratelimit:user_8421                fixed window, key: plain
//   ratelimit:{user_8421}:60           with hash_tag: all keys of a subject share a cluster slot
//
// Inside a part `:` `{` `}` `%`, control and non-ASCII bytes are percent-encoded. A part that is
// too long after that is replaced by "%h" and the first 16 bytes of the raw part's SHA-256 in
// lower-case hex. It is unkeyed: replicas must agree.
//
// Under one KeyOptions two different inputs never get one key (as far as 128 bits of SHA-256 go):
//   - An encoded part holds no ':', so a key falls apart behind the prefix in one way only; every
//     part has at least one byte.
//   - A raw '%' becomes "%25" and hex digits are upper-case, so "%h" can only begin a hash.
//   - The parts tell what they are. One: a plain key. Two: subject, window. Four: subject, scope,
//     window, suffix. Three end either in a suffix (subject, window) or in a window (subject,
//     scope): a window is digits, or digits and "ms", never a suffix, whatever the scope looks
//     like.
// With hash_tag the first '{' and the first '}' are brim's own, as neither prefix nor part holds
// any, and something stands between them, as no subject is empty: no subject can empty its tag (and
// fall back to hashing the whole key) or choose another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <brim/limit.h>
#include <brim/result.h>
#include <brim/store.h>

namespace brim {

struct KeyOptions {
  std::string prefix = "ratelimit";
  bool hash_tag = false;  // braces around the subject, as Redis Cluster needs them
};

// The prefix: 1 ... kMaxPrefixBytes of letters, digits and _.:- and no ':' at its end. kInvalid,
// field "key_prefix".
Result<void> ValidateKeyOptions(const KeyOptions& options);

// Makes keys under one KeyOptions. REQUIRES: valid options. Immutable.
class KeyEncoder {
 public:
  explicit KeyEncoder(const KeyOptions& options);

  // The key of one line. Any bytes may be in subject and scope; an empty scope is none. Allocates
  // nothing unless it fails or has to hash. kInvalid with field "subject" (empty) or "scope" (a
  // plain key has none); kSetup if the crypto library gives no SHA-256.
  Result<Key> Build(std::string_view subject, std::string_view scope, const Limit& limit) const;

  // The same, written to `out`, which has room for kMaxKeyBytes. How many bytes it has; 0 if Build
  // fails.
  std::size_t Write(std::string_view subject, std::string_view scope, const Limit& limit,
                    char* out) const;

 private:
  char lead_[40] = {};  // what stands before the subject
  std::uint8_t lead_size_ = 0;
  bool hash_tag_;
};

inline Result<Key> BuildKey(const KeyOptions& options, std::string_view subject,
                            std::string_view scope, const Limit& limit) {
  return KeyEncoder(options).Build(subject, scope, limit);
}

}  // namespace brim

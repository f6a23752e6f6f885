#include "policy/key.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace {
std::size_t allocations = 0;
}

// Counts what the hot path must not do. Not inlined: g++ would take free() for the wrong partner of
// new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace brim {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using enum Algorithm;

const Limit kMinute = Limit::Create({.units = 5, .window = 60s}).value();
const Limit kFixedMinute =
    Limit::Create({.units = 5, .window = 60s, .algorithm = kFixedWindow}).value();
const Limit kOddWindow = Limit::Create({.units = 5, .window = 1500ms}).value();
const Limit kPlain =
    Limit::Create({.units = 5, .window = 60s, .algorithm = kFixedWindow, .key = KeyForm::kPlain})
        .value();
const Limit kLongest =
    Limit::Create({.units = 5, .window = Limit::kMaxWindow - 1ms, .algorithm = kFixedWindow})
        .value();
const KeyOptions kDefault;
const KeyOptions kTagged = {.hash_tag = true};

std::string KeyOf(std::string_view subject, std::string_view scope = {},
                  const Limit& limit = kMinute, const KeyOptions& options = kDefault) {
  return std::string(BuildKey(options, subject, scope, limit).value().view());
}

// What Redis Cluster hashes: the bytes between the first '{' and the next '}', if there are any.
std::string HashTag(const std::string& key) {
  const std::size_t open = key.find('{');
  if (open == std::string::npos) return key;
  const std::size_t close = key.find('}', open);
  if (close == std::string::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

TEST(KeyTest, HasTheDocumentedForms) {
  EXPECT_EQ(KeyOf("user_8421"), "ratelimit:user_8421:60");
  EXPECT_EQ(KeyOf("user_8421", "chat"), "ratelimit:user_8421:chat:60");
  EXPECT_EQ(KeyOf("user_8421", "", kOddWindow), "ratelimit:user_8421:1500ms");
  EXPECT_EQ(KeyOf("user_8421", "", kFixedMinute), "ratelimit:user_8421:60:fixed");
  EXPECT_EQ(KeyOf("user_8421", "chat", kFixedMinute), "ratelimit:user_8421:chat:60:fixed");
  EXPECT_EQ(KeyOf("user_8421", "", kPlain), "ratelimit:user_8421");
  EXPECT_EQ(KeyOf("user_8421", "", kMinute, kTagged), "ratelimit:{user_8421}:60");
  EXPECT_EQ(KeyOf("user_8421", "chat", kFixedMinute, kTagged),
            "ratelimit:{user_8421}:chat:60:fixed");
  EXPECT_EQ(KeyOf("user_8421", "", kPlain, kTagged), "ratelimit:{user_8421}");
  EXPECT_EQ(KeyOf("u", "", kMinute, {.prefix = "eu:api"}), "eu:api:u:60");
}

TEST(KeyTest, NamesWindowsInSecondsElseInMilliseconds) {
  const std::pair<Micros, const char*> kWindows[] = {{1ms, "r:u:1ms"},
                                                     {999ms, "r:u:999ms"},
                                                     {1s, "r:u:1"},
                                                     {1001ms, "r:u:1001ms"},
                                                     {24h, "r:u:86400"},
                                                     {24h * 366, "r:u:31622400"},
                                                     {24h * 366 - 1ms, "r:u:31622399999ms"}};
  for (const auto& [window, key] : kWindows) {
    const Limit limit = Limit::Create({.units = 5, .window = window}).value();
    EXPECT_EQ(KeyOf("u", "", limit, {.prefix = "r"}), key);
  }
}

TEST(KeyTest, UnitsAndModeDoNotChangeTheKey) {
  EXPECT_EQ(KeyOf("u", "", ParseLimit("600 per minute shadow").value()), KeyOf("u"));
}

TEST(KeyTest, R21_EncodesOddIds) {
  EXPECT_EQ(KeyOf("a:b"), "ratelimit:a%3Ab:60");
  EXPECT_EQ(KeyOf("{z}"), "ratelimit:%7Bz%7D:60");
  EXPECT_EQ(KeyOf("}x"), "ratelimit:%7Dx:60");
  EXPECT_EQ(KeyOf("\r\nFLUSHALL\r\n"), "ratelimit:%0D%0AFLUSHALL%0D%0A:60");
  EXPECT_EQ(KeyOf("\0"s), "ratelimit:%00:60");
  EXPECT_EQ(KeyOf("\xff"), "ratelimit:%FF:60");
  EXPECT_EQ(KeyOf("\x7f"), "ratelimit:%7F:60");
  EXPECT_EQ(KeyOf("*"), "ratelimit:*:60");
  EXPECT_EQ(KeyOf("a b~!"), "ratelimit:a b~!:60");
  EXPECT_EQ(KeyOf("50%"), "ratelimit:50%25:60");
  EXPECT_EQ(KeyOf("%h00"), "ratelimit:%25h00:60");
  EXPECT_EQ(KeyOf("u", "\xc3\xa9:{"), "ratelimit:u:%C3%A9%3A%7B:60");
}

TEST(KeyTest, R21_EmptySubjectIsAnError) {
  for (const KeyOptions& options : {kDefault, kTagged}) {
    for (const Limit& limit : {kMinute, kPlain}) {
      const Result<Key> key = BuildKey(options, "", "", limit);
      ASSERT_FALSE(key.ok());
      EXPECT_EQ(key.error().code, ErrorCode::kInvalid);
      EXPECT_EQ(key.error().field, "subject");
    }
  }
}

TEST(KeyTest, R21_LongIdsBecomeTheirHash) {
  // printf a%.0s {1..65536} | sha256sum | cut -c -32
  EXPECT_EQ(KeyOf(std::string(65'536, 'a')), "ratelimit:%hbf718b6f653bebc184e1479f1935b8da:60");
  EXPECT_EQ(KeyOf(std::string(128, 'a')), "ratelimit:" + std::string(128, 'a') + ":60");
  EXPECT_EQ(KeyOf(std::string(129, 'a')).substr(0, 12), "ratelimit:%h");
  // The length after encoding counts: 42 * 3 = 126, 43 * 3 = 129.
  EXPECT_EQ(KeyOf(std::string(42, ':') + "ab").size(), 128 + 13u);
  EXPECT_EQ(KeyOf(std::string(42, ':') + "abc").substr(0, 12), "ratelimit:%h");
  EXPECT_EQ(KeyOf("u", std::string(64, 'a')), "ratelimit:u:" + std::string(64, 'a') + ":60");
  EXPECT_EQ(KeyOf("u", std::string(65, 'a')).substr(0, 14), "ratelimit:u:%h");
}

TEST(KeyTest, ALongPartNeverMeetsItsOwnHash) {
  const std::string key = KeyOf(std::string(200, 'a'));
  const std::string hash = key.substr(10, 34);
  EXPECT_NE(KeyOf(hash), key);
  EXPECT_NE(KeyOf(std::string(200, 'a')), KeyOf(std::string(201, 'a')));
}

TEST(KeyTest, NoKeyIsLongerThanItsMaximum) {
  const KeyOptions longest = {.prefix = std::string(limits::kMaxPrefixBytes, 'p'),
                              .hash_tag = true};
  const std::string key = KeyOf(std::string(128, 's'), std::string(64, 'c'), kLongest, longest);
  EXPECT_EQ(key.size(), 248u);
  EXPECT_LE(key.size(), kMaxKeyBytes);
}

TEST(KeyTest, APlainKeyHasNoScope) {
  const Result<Key> key = BuildKey(kDefault, "u", "chat", kPlain);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(key.error().field, "scope");
}

std::vector<std::string> OddIds() {
  return {"user{1}",
          "}{",
          "{}",
          "a:b",
          "{z}",
          "}x",
          "\r\nFLUSHALL\r\n",
          "\0"s,
          "\xff",
          "*",
          "{",
          "}",
          "a",
          "b",
          "60",
          "fixed",
          "60:fixed",
          "1500ms",
          "%h",
          "%25",
          "%7B",
          "%7D",
          "{a}",
          "{{a}}",
          "a}{b",
          std::string(65'536, 'a')};
}

TEST(KeyTest, P27_TheTagIsTheEncodedSubjectForEveryIdScopeAndLimit) {
  for (const std::string& subject : OddIds()) {
    const std::string plain = KeyOf(subject, "", kPlain);
    const std::string encoded = plain.substr(std::string("ratelimit:").size());
    EXPECT_FALSE(encoded.empty());
    EXPECT_EQ(HashTag(KeyOf(subject, "", kPlain, kTagged)), encoded);
    for (const std::string& scope : OddIds()) {
      for (const Limit& limit : {kMinute, kFixedMinute, kOddWindow, kLongest}) {
        EXPECT_EQ(HashTag(KeyOf(subject, scope, limit, kTagged)), encoded);
      }
    }
  }
}

TEST(KeyTest, P27_WithoutATagNoIdMakesOne) {
  for (const std::string& subject : OddIds()) {
    EXPECT_EQ(KeyOf(subject, subject).find_first_of("{}"), std::string::npos);
  }
}

// Remembers every key with the input it came from, and fails on a second input.
class Collisions {
 public:
  explicit Collisions(const KeyOptions& options) : options_(options) {}
  void Try(const std::string& subject, const std::string& scope, const Limit& limit) {
    if (subject.empty() || (limit.key() == KeyForm::kPlain && !scope.empty())) return;
    const std::string key = KeyOf(subject, scope, limit, options_);
    ASSERT_LE(key.size(), kMaxKeyBytes);
    const Input input = {subject, scope,
                         limit.key() == KeyForm::kPlain ? 0 : limit.window().count(),
                         limit.algorithm()};
    const auto [at, added] = inputs_.emplace(key, input);
    ASSERT_TRUE(added || at->second == input) << key;
  }

 private:
  using Input = std::tuple<std::string, std::string, Micros::rep, Algorithm>;
  const KeyOptions options_;
  std::map<std::string, Input> inputs_;
};

TEST(KeyTest, R21_NoTwoOddInputsShareAKey) {
  for (const KeyOptions& options : {kDefault, kTagged}) {
    Collisions collisions(options);
    std::vector<std::string> scopes = OddIds();
    scopes.push_back("");
    for (const std::string& subject : OddIds()) {
      for (const std::string& scope : scopes) {
        for (const Limit& limit : {kMinute, kFixedMinute, kOddWindow, kPlain}) {
          collisions.Try(subject, scope, limit);
        }
      }
    }
  }
}

TEST(KeyTest, RandomPairsNeverCollide) {
  const std::string kPieces[] = {":",     "{",   "}",    "%", "h", "%h", "60", "ms",
                                 "fixed", ":60", "\xff", "2", "5", "A",  "3"};
  std::mt19937 random(8421);
  const auto Part = [&] {
    std::string part;
    for (auto n = random() % 5; n > 0; --n) part += kPieces[random() % std::size(kPieces)];
    return random() % 16 == 0 ? std::string(60 + random() % 80, 'x') + part : part;
  };
  for (const KeyOptions& options : {kDefault, kTagged}) {
    Collisions collisions(options);
    const Limit limits[] = {kMinute, kFixedMinute, kOddWindow, kPlain};
    for (int i = 0; i < 50'000; ++i) collisions.Try(Part(), Part(), limits[random() % 4]);
  }
}

TEST(KeyTest, TheHotPathAllocatesNothing) {
  const std::size_t before = allocations;
  for (const Limit& limit : {kMinute, kFixedMinute, kOddWindow}) {
    for (const std::string_view subject : {"user_8421", "a:b"}) {
      ASSERT_TRUE(BuildKey(kTagged, subject, "chat", limit).ok());
    }
  }
  EXPECT_EQ(allocations, before);
}

TEST(KeyOptionsTest, AcceptsOrdinaryPrefixes) {
  for (const char* prefix :
       {"ratelimit", "r", "eu-1:api.v2_x", ":r", "0123456789abcdef0123456789ABCDEF"}) {
    EXPECT_TRUE(ValidateKeyOptions({.prefix = prefix}).ok()) << prefix;
  }
}

TEST(KeyOptionsTest, RefusesWhatWouldBreakAKey) {
  for (const std::string& prefix : {""s, std::string(33, 'p'), "r:"s, ":"s, "r{"s, "r}"s, "r%"s,
                                    "a b"s, "r\n"s, "r\0"s, "\xc3\xa9"s}) {
    const Result<void> valid = ValidateKeyOptions({.prefix = prefix});
    ASSERT_FALSE(valid.ok()) << prefix;
    EXPECT_EQ(valid.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(valid.error().field, "key_prefix");
  }
}

}  // namespace
}  // namespace brim

// brim hash-key: the entry of an API key for a key table. The key comes from standard input, and
// only its hash leaves.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <openssl/rand.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/subject.h"
#include "policy/config/load_api_keys.h"

namespace brim::cli {
namespace {

constexpr std::size_t kSecretBytes = 32;

Result<std::string> ReadKey() {
  std::string key;
  std::getline(std::cin, key);
  if (key.ends_with('\r')) key.pop_back();
  if (key.empty() || key.size() > limits::kMaxHeaderBytes) {
    return Error{ErrorCode::kInvalid,
                 "there is no key on standard input; pipe it in: `brim hash-key ... < alice.key`",
                 "key"};
  }
  return key;
}

// Empty if the file is not there.
std::string ReadTable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Result<std::string> MakeSecret() {
  unsigned char bytes[kSecretBytes];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) {
    return Error{ErrorCode::kSetup, "OpenSSL gives no random bytes: mend its installation", ""};
  }
  return std::string(bytes, bytes + sizeof(bytes));
}

// What to append to a table with this text.
Result<std::string> Addition(const HashKeyArgs& args, const std::string& text,
                             const std::string& key) {
  const ApiKeyEntry entry{.subject = args.subject, .tier = args.tier};
  if (text.empty()) {
    const auto secret = MakeSecret();
    if (!secret) return secret.error();
    const auto hash = ApiKeyTable(*secret).Hash(key);
    if (!hash) return hash.error();
    return ApiKeysHead(*secret) + ApiKeyLine(entry, *hash);
  }
  const LoadedApiKeys loaded = LoadApiKeys(text, args.table, nullptr);
  if (loaded.table == nullptr) {
    return Error{ErrorCode::kInvalid, FormatIssue(loaded.issues.front(), ""), "table"};
  }
  if (loaded.table->Find(key) != nullptr) {
    return Error{ErrorCode::kInvalid, "the table has this key already", "key"};
  }
  const auto hash = loaded.table->Hash(key);
  if (!hash) return hash.error();
  return (text.ends_with('\n') ? "" : "\n") + ApiKeyLine(entry, *hash);
}

}  // namespace

int RunHashKey(const HashKeyArgs& args) {
  const auto key = ReadKey();
  if (!key) return FailUsage("hash-key", key.error());
  const auto addition = Addition(args, ReadTable(args.table), *key);
  if (!addition) return FailUsage("hash-key", addition.error());
  std::fputs(addition->c_str(), stdout);
  return kOk;
}

}  // namespace brim::cli

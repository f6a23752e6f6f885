// The table of API keys, a YAML file of its own: it is a secret, and changes more often.
//
//   secret: 5f0c...                     # hex; what the hashes are keyed with
//   keys:
//     - {subject: alice, tier: pro, hash: 9a1b...}
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/api_key_table.h"
#include "policy/config/config_issue.h"
#include "policy/policy_set.h"

namespace brim {

struct LoadedApiKeys {
  std::shared_ptr<const ApiKeyTable> table;  // null if there is an issue
  std::vector<ConfigIssue> issues;
};

// `set` knows the tiers; null takes any. Issues repeat no hash and no secret.
LoadedApiKeys LoadApiKeys(std::string_view text, std::string_view file, const PolicySet* set);

// What a new table begins with. REQUIRES: at least ApiKeyTable::kMinSecretBytes.
std::string ApiKeysHead(std::string_view secret);
// A line of the table, as LoadApiKeys reads it.
std::string ApiKeyLine(const ApiKeyEntry& entry, const ApiKeyHash& hash);

}  // namespace brim

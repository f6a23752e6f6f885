// From the text of a configuration to the PolicySet that it means, or everything that is wrong with
// it. docs/config.md describes the file, schema/brim.schema.json describes it to editors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <brim/result.h>
#include "policy/config/config_issue.h"
#include "policy/policy_set.h"

namespace brim {

// What only other parts of brim can judge; each is given a text of the file, and says what is wrong
// with it. One that is not set takes everything.
struct ConfigChecks {
  using Check = std::function<Result<void>(std::string_view)>;
  Check listen;     // an address to listen on
  Check store_url;  // the URL of a store
  Check respond;    // the JSON text of a route, with its places
};

struct LoadedConfig {
  std::shared_ptr<const PolicySet> policy;  // null if there is an error among the issues
  std::vector<ConfigIssue> issues;  // in the order of their places; at most kMaxConfigIssues
  std::string file;                 // as issues call it
  std::string text;                 // of the file
  bool ok() const { return policy != nullptr; }
  // The issues as FormatIssue writes them.
  std::string Format() const;
};

// `file` is what issues call the text. Reads no other file.
LoadedConfig LoadConfig(std::string text, std::string_view file, const ConfigChecks& checks = {});

// Reads the file, and the table of API keys that it names: relative to the file's folder. That one
// of them cannot be read is an issue too.
LoadedConfig LoadConfigFile(const std::string& path, const ConfigChecks& checks = {});

// A configuration that is refused as a whole, for this reason.
LoadedConfig RefusedConfig(std::string_view file, std::string message);

// Where the set's table of API keys is. REQUIRES: it names one.
std::string KeyTablePath(const PolicySet& set);

}  // namespace brim

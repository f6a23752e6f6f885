// What the tests of the configuration share.
#pragma once

#include <string>
#include <vector>

#include "policy/config/load_config.h"

namespace brim {

// "line:column field: message", or with the code of a warning.
inline std::vector<std::string> Told(const LoadedConfig& loaded) {
  std::vector<std::string> told;
  for (const ConfigIssue& issue : loaded.issues) {
    told.push_back((issue.code.empty() ? "" : issue.code + " ") + std::to_string(issue.place.line) +
                   ":" + std::to_string(issue.place.column) + " " + issue.field + ": " +
                   issue.message + (issue.hint.empty() ? "" : " | " + issue.hint));
  }
  return told;
}

}  // namespace brim

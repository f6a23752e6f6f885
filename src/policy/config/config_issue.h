// What is wrong with a configuration, or deserves a look: where it stands, and what to write
// instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/yaml_tree.h"

namespace brim {

enum class Severity : std::uint8_t {
  kError,    // the file is refused
  kWarning,  // it is taken; `code` leads to a section of docs/warnings.md
};

struct ConfigIssue {
  Severity severity = Severity::kError;
  std::string code;       // "BRIM-W001"; of warnings
  std::string file;       // as it was named
  YamlPlace place;        // nowhere: the whole file
  std::size_t width = 1;  // bytes from there on that are meant
  std::string field;      // "tiers.free[1].cost"; empty: the whole file
  std::string message;    // for people
  std::string hint;       // the remedy; may be empty
};

// Those of `file` in the manner of compilers, with the line and a caret below; control characters
// in it are replaced. `text` is the text of the file; empty: the line is not shown.
//
//   brim.yaml:12:5: error: there is no setting "limts" (gateway.routes[0].limts)
//      12 |     limts: [5 per minute]
//         |     ^~~~~
//         = did you mean "limits"?
std::string FormatIssue(const ConfigIssue& issue, std::string_view text);

// As a JSON array of objects: severity, code, file, line, column, field, message, hint.
std::string IssuesAsJson(const std::vector<ConfigIssue>& issues);

}  // namespace brim

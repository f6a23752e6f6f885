// brim reload: has a running brim read its configuration anew, and tells what came of it.
#include <cstdio>
#include <fstream>
#include <string>

#include "base/json_reader.h"
#include "cli/admin_call.h"
#include "cli/commands.h"
#include "cli/config_checks.h"
#include "cli/subject.h"
#include "policy/config/load_config.h"

namespace brim::cli {
namespace {

struct Target {
  std::string address;
  std::string token_file;
};

// Where the configuration says, if there is one that says so; the command line has the last word.
Target FindTarget(const ReloadArgs& args) {
  PolicySet set = DefaultPolicySet();
  if (!args.config.empty()) {
    // A file with a mistake is what a reload may be about: then the running brim tells it.
    const LoadedConfig loaded = LoadConfigFile(args.config, MakeConfigChecks());
    if (loaded.ok()) set = *loaded.policy;
  }
  return {args.admin.empty() ? set.admin_listen : args.admin,
          args.token_file.empty() ? set.admin_token_file : args.token_file};
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Prints "file:line: message" of an issue, which is a JSON object.
void PrintIssue(JsonReader& json) {
  std::string file, line, message, hint;
  std::string_view name, value;
  for (json.BeginObject(); json.NextMember(name);) {
    std::string* const text = name == "file"      ? &file
                              : name == "line"    ? &line
                              : name == "message" ? &message
                              : name == "hint"    ? &hint
                                                  : nullptr;
    if (text != nullptr && (json.String(value) || json.Number(value))) {
      *text = value;
    } else {
      json.Skip();
    }
  }
  const std::string place = line == "0" ? file : file + ":" + line;
  std::fprintf(stderr, "%s: %s%s%s\n", place.c_str(), message.c_str(), hint.empty() ? "" : "; ",
               hint.c_str());
}

// {"ok": ..., "needs_restart": [...], "issues": [...]}
void PrintChange(const std::string& body) {
  JsonReader json;
  json.Begin(body);
  std::string_view name, value;
  for (json.BeginObject(); json.NextMember(name);) {
    if (name == "needs_restart") {
      for (json.BeginArray(); json.NextElement();) {
        json.String(value);
        std::printf("%s holds only after a restart\n", std::string(value).c_str());
      }
    } else if (name == "issues") {
      for (json.BeginArray(); json.NextElement();) PrintIssue(json);
    } else {
      json.Skip();
    }
  }
}

}  // namespace

int RunReload(const ReloadArgs& args) {
  const Target target = FindTarget(args);
  const auto answer =
      CallAdmin(target.address, "POST", "/v1/reload",
                target.token_file.empty() ? std::string() : FirstLine(target.token_file));
  if (!answer) return FailUsage("reload", answer.error());
  if (answer->status == 401 || answer->status == 403) {
    return FailUsage("reload",
                     {ErrorCode::kInvalid,
                      "brim refuses this token; name the file of admin.token_file", "token-file"});
  }
  PrintChange(answer->body);
  if (answer->status != 200) {
    std::fputs("brim reload: refused; the old configuration holds on\n", stderr);
    return kBadUsage;
  }
  std::puts("reloaded");
  return kOk;
}

}  // namespace brim::cli

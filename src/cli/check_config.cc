// brim check-config: whether a file can be served, and all that is wrong with it.
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/config_checks.h"
#include "policy/config/load_config.h"

namespace brim::cli {

int RunCheckConfig(const ConfigArgs& args) {
  const LoadedConfig loaded = LoadConfigFile(args.file, MakeConfigChecks());
  if (args.json) {
    std::printf("{\"ok\": %s, \"issues\": %s}\n", loaded.ok() ? "true" : "false",
                IssuesAsJson(loaded.issues).c_str());
    return loaded.ok() ? kOk : kBadUsage;
  }
  std::fputs(loaded.Format().c_str(), stderr);
  if (!loaded.ok()) return kBadUsage;
  std::printf("%s: good (tiers: %zu, routes: %zu)\n", args.file.c_str(),
              loaded.policy->tiers.size(), loaded.policy->routes.size());
  return kOk;
}

}  // namespace brim::cli

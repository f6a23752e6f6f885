// brim config show: the file with what it leaves to the defaults.
#include <cstdio>

#include "cli/commands.h"
#include "cli/config_checks.h"
#include "policy/config/load_config.h"
#include "policy/config/show_config.h"

namespace brim::cli {

int RunConfigShow(const ConfigArgs& args) {
  const LoadedConfig loaded = args.file.empty() ? LoadConfig({}, "the defaults", MakeConfigChecks())
                                                : LoadConfigFile(args.file, MakeConfigChecks());
  std::fputs(loaded.Format().c_str(), stderr);
  if (!loaded.ok()) return kBadUsage;
  std::fputs(ShowConfig(*loaded.policy).c_str(), stdout);
  return kOk;
}

}  // namespace brim::cli

// What of a configuration only the doors and stores can judge: addresses, store URLs, answers.
#pragma once

#include "policy/config/load_config.h"

namespace brim::cli {

ConfigChecks MakeConfigChecks();

}  // namespace brim::cli

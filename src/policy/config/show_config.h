// A PolicySet as a configuration file, complete with what the file left to the defaults.
#pragma once

#include <string>

#include "policy/policy_set.h"

namespace brim {

// Its text loads to the same set, but that the user and password of the store's URL are "***".
std::string ShowConfig(const PolicySet& set);

}  // namespace brim

// What `brim doctor` makes of the facts. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/doctor_facts.h"

namespace brim::cli {

struct Finding {
  std::string name;    // for scripts: "eviction", "version", ...
  std::string node;    // its address; empty: of the whole set-up
  std::string text;    // what is so
  std::string remedy;  // what to do about it
};

std::vector<Finding> FindingsOf(const StoreFacts& facts);

// How far beyond a limit this set-up may admit, and when; a sentence each.
std::vector<std::string> BoundsOf(const StoreFacts& facts);

}  // namespace brim::cli

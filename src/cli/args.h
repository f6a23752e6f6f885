// The command line as values. The only file that sees CLI11.
#pragma once

#include <string>
#include <variant>

#include "cli/commands.h"

namespace brim::cli {

enum class SubjectCommand { kCheck, kInspect, kReset };

struct SubjectCall {
  SubjectCommand command;
  SubjectArgs args;
};

// Nothing to run: help, version, or what is wrong with the arguments.
struct Printed {
  std::string text;
  int exit_code = kOk;  // kOk: for stdout; else for stderr
};

using Call = std::variant<Printed, DemoArgs, SubjectCall>;

// `environment_store` is the value of BRIM_STORE, for when there is no --store; empty if unset.
Call ParseArgs(int argc, const char* const* argv, std::string environment_store);

}  // namespace brim::cli

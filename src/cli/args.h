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

enum class ConfigCommand { kCheck, kShow };

struct ConfigCall {
  ConfigCommand command;
  ConfigArgs args;
};

// What stands in the environment for when the command line says nothing; empty if it is not set.
struct Environment {
  std::string store;   // BRIM_STORE
  std::string config;  // BRIM_CONFIG
};

// Nothing to run: help, version, or what is wrong with the arguments.
struct Printed {
  std::string text;
  int exit_code = kOk;  // kOk: for stdout; else for stderr
};

using Call = std::variant<Printed, DemoArgs, DoctorArgs, ServeArgs, SubjectCall, ConfigCall,
                          HashKeyArgs, ReloadArgs>;

Call ParseArgs(int argc, const char* const* argv, Environment environment);

}  // namespace brim::cli

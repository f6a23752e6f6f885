// The program: one command a run.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>

#include "cli/args.h"
#include "cli/commands.h"

namespace brim::cli {
namespace {

int Run(const Printed& printed) {
  std::fputs(printed.text.c_str(), printed.exit_code == kOk ? stdout : stderr);
  return printed.exit_code;
}

int Run(const DemoArgs& args) { return RunDemo(args); }
int Run(const HashKeyArgs& args) { return RunHashKey(args); }
int Run(const ReloadArgs& args) { return RunReload(args); }

int Run(const DoctorArgs& args) { return RunDoctor(args); }

int Run(const ServeArgs& args) { return RunServe(args); }

int Run(const SubjectCall& call) {
  switch (call.command) {
    case SubjectCommand::kCheck:
      return RunCheck(call.args);
    case SubjectCommand::kInspect:
      return RunInspect(call.args);
    case SubjectCommand::kReset:
      return RunReset(call.args);
  }
  return kBadUsage;
}

int Run(const ConfigCall& call) {
  switch (call.command) {
    case ConfigCommand::kCheck:
      return RunCheckConfig(call.args);
    case ConfigCommand::kShow:
      return RunConfigShow(call.args);
  }
  return kBadUsage;
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace
}  // namespace brim::cli

int main(int argc, char** argv) {
  const brim::cli::Call call = brim::cli::ParseArgs(
      argc, argv,
      {.store = brim::cli::Variable("BRIM_STORE"), .config = brim::cli::Variable("BRIM_CONFIG")});
  return std::visit([](const auto& chosen) { return brim::cli::Run(chosen); }, call);
}

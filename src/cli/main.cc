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

}  // namespace
}  // namespace brim::cli

int main(int argc, char** argv) {
  const char* store = std::getenv("BRIM_STORE");
  const brim::cli::Call call = brim::cli::ParseArgs(argc, argv, store == nullptr ? "" : store);
  return std::visit([](const auto& chosen) { return brim::cli::Run(chosen); }, call);
}

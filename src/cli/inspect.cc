// brim inspect SUBJECT: what it has left under its limits. Charges nothing.
#include <algorithm>
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/subject.h"
#include "door/http_answer.h"

namespace brim::cli {
namespace {

std::string WhenItFits(const LineDecision& line) {
  if (line.fit == Fit::kNever) return "never";
  return line.fit == Fit::kFits ? "now" : "in " + FormatWait(line.retry_after);
}

void PrintTable(const Decision& decision) {
  int width = 5;
  for (const LineDecision& line : decision.lines) {
    width = std::max(width, static_cast<int>(FormatLimit(line.limit).size()));
  }
  std::printf("%-*s  %12s  %-14s  %s\n", width, "limit", "left", "next unit", "full again");
  for (const LineDecision& line : decision.lines) {
    const bool full = line.reset_after <= Micros{0};
    std::printf("%-*s  %12lld  %-14s  %s\n", width, FormatLimit(line.limit).c_str(),
                static_cast<long long>(line.remaining), WhenItFits(line).c_str(),
                full ? "now" : ("in " + FormatWait(line.reset_after)).c_str());
  }
}

}  // namespace

int RunInspect(const SubjectArgs& args) {
  const auto session = SubjectSession::Open(args);
  if (!session) return FailUsage("inspect", session.error());
  const Decision decision = (*session)->Check();
  if (decision.store_error != StoreError::kNone) return FailStore("inspect", decision.store_error);
  if (args.json) {
    std::string body;
    door::AppendDecisionBody(decision, body);
    std::puts(body.c_str());
  } else if (decision.reason == Reason::kKillSwitch) {
    std::puts("limiting is switched off (RATE_LIMIT_DISABLED), and no store is asked");
  } else {
    PrintTable(decision);
  }
  NoteMemoryStore(args.store);
  return kOk;
}

}  // namespace brim::cli

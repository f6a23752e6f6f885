// brim check SUBJECT: one check, told by the exit code.
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/subject.h"
#include "door/http_answer.h"

namespace brim::cli {
namespace {

void PrintJson(const Decision& decision) {
  std::string body;
  door::AppendDecisionBody(decision, body);
  std::puts(body.c_str());
}

std::string Describe(const Decision& decision) {
  const std::string of_limit = std::to_string(decision.remaining) + " of " +
                               std::to_string(decision.limit) + " left (" +
                               WindowName(decision.window) + ")";
  if (decision.reason == Reason::kKillSwitch) {
    return "allowed: limiting is switched off (RATE_LIMIT_DISABLED)";
  }
  if (decision.reason == Reason::kNoRule) return "allowed: no limit applies";
  if (decision.allowed()) {
    return "allowed: " + of_limit + ", full again in " + FormatWait(decision.reset_after);
  }
  if (decision.retry_after == kNever) {
    return "limited: the cost is above what the limit can ever hold; " + of_limit;
  }
  return "limited: " + of_limit + ", fits in " + FormatWait(decision.retry_after);
}

}  // namespace

int RunCheck(const SubjectArgs& args) {
  const auto session = SubjectSession::Open(args);
  if (!session) return FailUsage("check", session.error());
  const Decision decision = (*session)->Check();
  if (args.json) PrintJson(decision);
  if (decision.store_error != StoreError::kNone) return FailStore("check", decision.store_error);
  if (!args.json) std::puts(Describe(decision).c_str());
  NoteMemoryStore(args.store);
  return decision.allowed() ? kOk : kLimited;
}

}  // namespace brim::cli

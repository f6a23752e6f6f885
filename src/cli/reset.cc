// brim reset SUBJECT: forgets what its limits counted, and nothing else.
#include <cstdio>

#include "cli/commands.h"
#include "cli/subject.h"

namespace brim::cli {

int RunReset(const SubjectArgs& args) {
  const auto session = SubjectSession::Open(args);
  if (!session) return FailUsage("reset", session.error());
  const Result<std::int64_t> removed = (*session)->Reset();
  if (!removed) {
    std::fprintf(stderr, "brim reset: the store failed: %s\n", removed.error().message.c_str());
    return kStoreFailed;
  }
  std::printf("reset: %lld of %zu keys were there, and are gone\n",
              static_cast<long long>(*removed), (*session)->limits());
  NoteMemoryStore(args.store);
  return kOk;
}

}  // namespace brim::cli

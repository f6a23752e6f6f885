// What check, inspect and reset share: one subject, its limits, a store for one question.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <brim/limit.h>
#include <brim/limiter.h>
#include <brim/result.h>
#include <brim/store.h>
#include "cli/commands.h"

namespace brim::cli {

// A question and all that it needs to be asked. The store that fails is told, never replaced.
class SubjectSession {
 public:
  // kInvalid, with the field: what is wrong with the arguments.
  static Result<std::unique_ptr<SubjectSession>> Open(const SubjectArgs& args);

  Decision Check() { return limiter_.Check(request_); }
  Result<std::int64_t> Reset() { return limiter_.Reset(request_); }
  std::size_t limits() const { return limits_.size(); }

 private:
  SubjectSession(const SubjectArgs& args, std::vector<Limit> limits, std::unique_ptr<Store> store);

  const std::vector<Limit> limits_;
  const CheckRequest request_;  // views of limits_ and of the arguments
  const std::unique_ptr<Store> store_;
  Limiter limiter_;
};

// The exit codes of failures; each prints a sentence on stderr.
int FailUsage(const char* command, const Error& error);
int FailStore(const char* command, StoreError error);

// Notes on stderr: a memory store ends with this process; a password on the command line is seen by
// others.
void NoteMemoryStore(const StoreArgs& store);
void WarnOfPassword(const StoreArgs& store);

// A wait for people: "870 ms", "12 s", "1 min 5 s", "2 d 3 h". Its two largest units, rounded up.
std::string FormatWait(Micros wait);

}  // namespace brim::cli

#include "cli/subject.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/rounding.h"
#include "store/open_store.h"

namespace brim::cli {
namespace {

// A program that runs once has time to connect; a server that is not there fails at once all the
// same.
constexpr Micros kTimeout = std::chrono::seconds(2);

Result<std::vector<Limit>> ReadLimits(const SubjectArgs& args) {
  std::vector<Limit> limits;
  for (const std::string& text : args.limits) {
    auto some = ParseLimits(text, args.algorithm);
    if (!some) return some.error();
    limits.insert(limits.end(), some->begin(), some->end());
  }
  return limits;
}

// Whether the URL has user information with a password in it, or one for sentinels.
bool HasPassword(std::string_view url) {
  if (url.find("sentinel_password=") != std::string_view::npos) return true;
  const std::size_t begin = url.find("://");
  const std::size_t at = url.rfind('@');
  if (begin == std::string_view::npos || at == std::string_view::npos) return false;
  return url.substr(begin + 3, at - begin - 3).find(':') != std::string_view::npos;
}

const char* Remedy(StoreError error) {
  switch (error) {
    case StoreError::kUnavailable:
      return "no answer, and nothing was charged; is the server running, and is the URL right?";
    case StoreError::kUnknown:
      return "no answer in time; the units may have been charged";
    case StoreError::kOutOfMemory:
      return "the server is out of memory (maxmemory), and nothing was charged";
    case StoreError::kSetup:
      return "the server refuses brim; check user, password, rights and version (Redis 7.0 or "
             "newer)";
    case StoreError::kNone:
      break;
  }
  return "";
}

struct Unit {
  std::int64_t millis;
  const char* name;
};
constexpr std::array<Unit, 4> kUnits = {
    {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1'000, "s"}}};

// The largest unit that is not longer than this; the last one if all are.
std::size_t Largest(std::int64_t millis) {
  std::size_t i = 0;
  while (i + 1 < kUnits.size() && millis < kUnits[i].millis) ++i;
  return i;
}

}  // namespace

Result<std::unique_ptr<SubjectSession>> SubjectSession::Open(const SubjectArgs& args) {
  auto limits = ReadLimits(args);
  if (!limits) return limits.error();
  auto store = OpenStoreToAskOnce(args.store.url);
  if (!store) return store.error();
  std::unique_ptr<SubjectSession> session(
      new SubjectSession(args, *std::move(limits), *std::move(store)));
  if (auto valid = session->limiter_.Validate(session->request_); !valid) return valid.error();
  WarnOfPassword(args.store);
  return session;
}

SubjectSession::SubjectSession(const SubjectArgs& args, std::vector<Limit> limits,
                               std::unique_ptr<Store> store)
    : limits_(std::move(limits)),
      request_{.subject = args.subject, .limits = limits_, .cost = args.cost, .scope = args.scope},
      store_(std::move(store)),
      limiter_(*store_, {.store_timeout = kTimeout, .on_failure = OnFailure::kClosed}) {}

int FailUsage(const char* command, const Error& error) {
  const std::string field = error.field.empty() ? "" : error.field + ": ";
  std::fprintf(stderr, "brim %s: %s%s\nRun `brim %s --help` for what it takes.\n", command,
               field.c_str(), error.message.c_str(), command);
  return kBadUsage;
}

int FailStore(const char* command, StoreError error) {
  const std::string kind(StoreErrorName(error));
  std::fprintf(stderr, "brim %s: store %s: %s\n", command, kind.c_str(), Remedy(error));
  return kStoreFailed;
}

void NoteMemoryStore(const StoreArgs& store) {
  if (!store.url.starts_with("memory:")) return;
  std::fputs(
      "note: a memory:// store lives only in this process, so each run begins anew; give --store "
      "or BRIM_STORE to share one\n",
      stderr);
}

void WarnOfPassword(const StoreArgs& store) {
  if (!store.from_command_line || !HasPassword(store.url)) return;
  std::fputs(
      "warning: other users of this machine can read a password in --store; put the URL into "
      "BRIM_STORE, or the password into the file that store.password_file names\n",
      stderr);
}

std::string FormatWait(Micros wait) {
  std::int64_t millis = RetryAfterMillis(wait).value_or(0);
  if (millis < 1'000) return std::to_string(millis) + " ms";
  const Unit& finest = kUnits[std::min(Largest(millis) + 1, kUnits.size() - 1)];
  millis = DivideUp(millis, finest.millis) * finest.millis;
  const std::size_t largest = Largest(millis);  // 59.9 s have become a minute
  std::string text;
  for (std::size_t i = largest; i < std::min(largest + 2, kUnits.size()); ++i) {
    const std::int64_t count = millis / kUnits[i].millis;
    millis %= kUnits[i].millis;
    if (count == 0) continue;
    if (!text.empty()) text += ' ';
    text.append(std::to_string(count)).append(1, ' ').append(kUnits[i].name);
  }
  return text;
}

}  // namespace brim::cli

#include "redis/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "redis/command.h"
#include "redis/reply_error.h"

namespace brim::redis {

using enum ErrorCode;

namespace {

std::string SelfTestCommand(const Script& script) {
  return Command(3).Arg("EVALSHA").Arg(script.sha1()).Arg(0).Take();
}

}  // namespace

Pipeline::Pipeline(PipelineOptions options)
    : options_(std::move(options)),
      peer_(options_.peer),
      random_(static_cast<std::minstd_rand::result_type>(options_.jitter_seed)) {}

void Pipeline::Run(std::string command, Instant deadline, Done done) {
  Queue({Kind::kRun, std::move(command), deadline, std::move(done)});
}

void Pipeline::Eval(const Script& script, std::string command, Instant deadline, Done done) {
  Queue({Kind::kEval, std::move(command), deadline, std::move(done), &script});
}

void Pipeline::Forward(Redirected redirected) {
  Entry entry{redirected.script != nullptr ? Kind::kEval : Kind::kRun,
              std::move(redirected.command), redirected.deadline, std::move(redirected.done),
              redirected.script};
  entry.hops = redirected.hops;
  entry.asking = redirected.direction.ask;
  Queue(std::move(entry));
}

void Pipeline::Queue(Entry entry) {
  if (down_ && !TakesProbe()) return Fail(entry, *down_);
  if (waiting() >= limits::kMaxRepliesWaiting) {
    return Fail(entry, PeerError(kUnavailable, "too many commands wait for a reply"));
  }
  Watch(entry.deadline);
  queued_.push_back(std::move(entry));
}

void Pipeline::QueueOwn(Kind kind, std::string command, Instant deadline, const Script* script) {
  Watch(deadline);
  own_.push_back(
      {.kind = kind, .command = std::move(command), .deadline = deadline, .script = script});
}

void Pipeline::Watch(Instant deadline) {
  next_deadline_ = std::min(next_deadline_.value_or(deadline), deadline);
}

void Pipeline::Connecting(Instant now) {
  state_ = State::kConnecting;
  setup_deadline_ = now + options_.setup_timeout;
  Watch(*setup_deadline_);
}

// All in one round trip: a server that refuses the first step refuses the others too.
void Pipeline::Connected() {
  state_ = State::kSigningIn;
  if (!options_.password.empty() || !options_.user.empty()) {
    Command auth(options_.user.empty() ? 2 : 3);
    auth.Arg("AUTH");
    if (!options_.user.empty()) auth.Arg(options_.user);
    QueueOwn(Kind::kAuth, auth.Arg(options_.password).Take(), *setup_deadline_);
  }
  if (options_.db != 0) {
    QueueOwn(Kind::kSelect, Command(2).Arg("SELECT").Arg(options_.db).Take(), *setup_deadline_);
  }
  Command set_name(3);
  set_name.Arg("CLIENT").Arg("SETNAME").Arg(options_.client_name);
  QueueOwn(Kind::kSetName, set_name.Take(), *setup_deadline_);
  if (options_.check_role) {
    QueueOwn(Kind::kRole, Command(1).Arg("ROLE").Take(), *setup_deadline_);
  }
  untested_ = options_.self_test != nullptr;
  if (untested_ && (down_ || stats_.connects > 0 || !queued_.empty())) QueueSelfTest();
  sign_in_missing_ = static_cast<int>(own_.size());
}

// A part of the sign-in; the first one of all leaves it until there is something to test for.
void Pipeline::QueueSelfTest() {
  untested_ = false;
  QueueOwn(Kind::kSelfTest, SelfTestCommand(*options_.self_test), *setup_deadline_);
}

void Pipeline::SignInFurther(Instant now) {
  state_ = State::kSigningIn;
  setup_deadline_ = now + options_.setup_timeout;
  QueueSelfTest();
  sign_in_missing_ = 1;
}

void Pipeline::Collect(Instant now, std::string& out) {
  if (ready() && untested_ && !queued_.empty()) SignInFurther(now);
  for (Entry& entry : own_) {
    stats_.script_loads += entry.kind == Kind::kScriptLoad;
    Send(std::move(entry), out);
  }
  own_.clear();
  // While a script is loaded nobody overtakes those that missed it.
  if (state_ != State::kReady || leaving_ || !loading_.empty()) return;
  for (Entry& entry : queued_) {
    if (entry.deadline <= now) {
      FailOverdue(entry);
      continue;
    }
    ++stats_.commands;
    Send(std::move(entry), out);
  }
  queued_.clear();
}

// The command is kept: the server may say that it did not run.
void Pipeline::Send(Entry entry, std::string& out) {
  if (entry.asking) {
    Send({.kind = Kind::kAsking,
          .command = Command(1).Arg("ASKING").Take(),
          .deadline = entry.deadline},
         out);
  }
  entry.first_byte = bytes_collected_;
  bytes_collected_ += entry.command.size();
  out += entry.command;
  sent_.Push(std::move(entry));
}

Result<void> Pipeline::Received(std::size_t bytes, Instant now) {
  decoder_.Commit(bytes);
  Decoder::Status status;
  while ((status = decoder_.Next()) == Decoder::Status::kReply) {
    if (sent_.empty()) return PeerError(kUnavailable, "the server answers without being asked");
    auto answered = Answer(sent_.Pop(), decoder_.reply(), now);
    if (!answered) return answered;
  }
  if (status == Decoder::Status::kMalformed) return PeerError(kUnavailable, decoder_.error());
  if (leaving_ && sent_.empty()) return *leaving_;
  return {};
}

Result<void> Pipeline::Answer(Entry entry, const Reply& reply, Instant now) {
  if (entry.kind == Kind::kScriptLoad) return AnswerScriptLoad(entry.script, reply);
  if (entry.kind == Kind::kAsking) return {};  // what follows it is answered by itself
  if (entry.own()) return AnswerSignIn(entry.kind, reply);
  late_in_a_row_ = 0;
  if (probing_) {
    probing_ = false;
    down_.reset();
  }
  if (reply.type() == ReplyType::kError) {
    AnswerError(std::move(entry), reply.text(), now);
  } else {
    entry.done(reply);
  }
  return {};
}

void Pipeline::AnswerError(Entry entry, std::string_view text, Instant now) {
  const std::string_view word = ErrorWord(text);
  if (entry.kind == Kind::kEval && word == "NOSCRIPT" && entry.loads < limits::kMaxScriptLoads) {
    MissScript(std::move(entry), now);
  } else if (word == "READONLY" && entry.repeats == 0) {
    // Where the primary is now is found by connecting again; that is also asked by the next line.
    ++entry.repeats;
    leaving_ = PeerError(kUnavailable, ReplyError(text).message);
    unscripted_.push_back(std::move(entry));
  } else if (!SendAway(entry, text) && !(MayRunSoon(word) && AskAgainLater(entry, now))) {
    entry.done(ReplyError(text));
  }
}

bool Pipeline::SendAway(Entry& entry, std::string_view text) {
  if (!options_.redirect || entry.hops == limits::kMaxHops) return false;
  auto direction = ParseDirection(text);
  if (!direction) return false;
  options_.redirect({*std::move(direction), std::move(entry.command), entry.script, entry.deadline,
                     std::move(entry.done), entry.hops + 1});
  return true;
}

// With jitter, so that those who were turned away together do not come back together.
bool Pipeline::AskAgainLater(Entry& entry, Instant now) {
  if (entry.repeats == limits::kMaxRepeats) return false;
  const Micros most = limits::kMaxRepeatDelay * (1 << entry.repeats);
  entry.not_before = now + Micros(1 + random_() % most.count());
  if (entry.not_before >= entry.deadline) return false;
  ++entry.repeats;
  Watch(entry.not_before);
  delayed_.push_back(std::move(entry));
  return true;
}

// A name is a comfort, and a server that cannot write now is still one to ask.
Result<void> Pipeline::AnswerSignIn(Kind kind, const Reply& reply) {
  if (reply.type() == ReplyType::kError) {
    const std::string_view word = ErrorWord(reply.text());
    if (kind == Kind::kSelfTest && word == "NOSCRIPT") {
      LoadScript(options_.self_test, *setup_deadline_);
      QueueSelfTest();
      return {};
    }
    if (auto refused = RefusedSignIn(kind, reply.text()); !refused) return refused;
  } else if (kind == Kind::kSelfTest) {
    if (auto passed = AnswerSelfTest(reply); !passed) return passed;
  } else if (kind == Kind::kRole && reply.size() > 0 && reply[0].text() != "master") {
    return PeerError(kUnavailable, "this is a replica, and the primary is wanted; wait");
  }
  if (--sign_in_missing_ == 0) SignedIn();
  return {};
}

// An error only if the server will refuse everything else too.
Result<void> Pipeline::RefusedSignIn(Kind kind, std::string_view text) {
  const std::string_view word = ErrorWord(text);
  if (word != "NOAUTH" && word != "DENIED") {
    if (kind == Kind::kSetName || kind == Kind::kRole) return {};
    const bool cannot_write = word == "OOM" || word == "MISCONF" || word == "NOREPLICAS";
    const bool replica_of_cluster = word == "READONLY" && options_.redirect;
    if (kind == Kind::kSelfTest && (cannot_write || replica_of_cluster)) return {};
  }
  // The text of an error may repeat the arguments: after AUTH it must not be shown.
  const bool secret = kind == Kind::kAuth;
  const Error error = ReplyError(secret ? word : text);
  return PeerError(error.code, secret ? "AUTH failed, check user and password; " + error.message
                                      : error.message);
}

// The reply names what this user may not run.
Result<void> Pipeline::AnswerSelfTest(const Reply& reply) const {
  if (reply.size() == 0) return {};
  std::string rights;
  for (std::size_t i = 0; i < reply.size(); ++i) rights += " +" + Printable(reply[i].text(), 40);
  const std::string user = options_.user.empty() ? "default" : Printable(options_.user);
  return PeerError(kSetup,
                   "the ACL user lacks rights that the scripts need; as an administrator: "
                   "ACL SETUSER " +
                       user + rights);
}

void Pipeline::SignedIn() {
  state_ = State::kReady;
  if (late_in_a_row_ < limits::kLateRepliesToOpen) down_.reset();
  setup_deadline_.reset();
  stats_.connects += !counted_;
  counted_ = true;
}

void Pipeline::MissScript(Entry entry, Instant now) {
  const Script* const script = entry.script;
  ++entry.loads;
  unscripted_.push_back(std::move(entry));
  if (std::ranges::find(loading_, script) != loading_.end()) return;
  LoadScript(script, now + options_.setup_timeout);
}

void Pipeline::LoadScript(const Script* script, Instant deadline) {
  loading_.push_back(script);
  QueueOwn(Kind::kScriptLoad, Command(3).Arg("SCRIPT").Arg("LOAD").Arg(script->text()).Take(),
           deadline, script);
}

Result<void> Pipeline::AnswerScriptLoad(const Script* script, const Reply& reply) {
  std::erase(loading_, script);
  std::vector<Entry> missed;
  std::erase_if(unscripted_, [&](Entry& entry) {
    if (entry.script != script) return false;
    missed.push_back(std::move(entry));
    return true;
  });
  if (reply.type() != ReplyType::kError) {
    Requeue(missed);
    return {};
  }
  Error error = ReplyError(reply.text());
  error = PeerError(error.code, "SCRIPT LOAD failed: " + error.message);
  if (!ready()) return error;
  for (Entry& entry : missed) Fail(entry, error);
  return {};
}

// Before those that never left.
void Pipeline::Requeue(std::vector<Entry>& entries) {
  queued_.insert(queued_.begin(), std::move_iterator(entries.begin()),
                 std::move_iterator(entries.end()));
  entries.clear();
}

void Pipeline::Lost(const Error& why) {
  const bool was_ready = ready();
  state_ = State::kDown;
  setup_deadline_.reset();
  leaving_.reset();
  probing_ = counted_ = false;
  decoder_.Reset();
  own_.clear();
  loading_.clear();
  for (Entry& entry : sent_) {
    if (entry.own()) continue;
    const bool may_have_run = entry.first_byte < bytes_taken_;
    Fail(entry, may_have_run ? Error{kUnknown, why.message + "; the command may have run", {}}
                             : Error{kUnavailable, why.message, {}});
  }
  sent_.Clear();
  bytes_collected_ = bytes_taken_ = 0;
  Requeue(unscripted_);
  Requeue(delayed_);
  if (!was_ready || late_in_a_row_ >= limits::kLateRepliesToOpen) GiveUp(why);
}

void Pipeline::GiveUp(Error why) {
  if (why.code != kSetup) why.code = kUnavailable;
  down_ = std::move(why);
  for (Entry& entry : queued_) Fail(entry, *down_);
  queued_.clear();
}

Result<void> Pipeline::Tick(Instant now) {
  if (!next_deadline_ || now < *next_deadline_) return {};
  next_deadline_.reset();
  if (setup_deadline_) {
    if (*setup_deadline_ <= now) {
      return PeerError(kUnavailable, "no connection in time; is the server running there?");
    }
    Watch(*setup_deadline_);
  }
  ExpireUnsent(queued_, now);
  ExpireUnsent(unscripted_, now);
  ExpireUnsent(delayed_, now);
  std::erase_if(delayed_, [&](Entry& entry) {
    if (entry.not_before > now) {
      Watch(entry.not_before);
      return false;
    }
    queued_.push_back(std::move(entry));
    return true;
  });
  bool overdue = false;
  for (const Entry& entry : sent_) {
    if (entry.deadline > now) {
      Watch(entry.deadline);
      continue;
    }
    overdue = true;
    stats_.timeouts += !entry.own();
  }
  late_in_a_row_ += overdue;
  if (overdue) return PeerError(kUnavailable, "no reply in time, the connection was dropped");
  return {};
}

void Pipeline::ExpireUnsent(std::vector<Entry>& entries, Instant now) {
  std::erase_if(entries, [&](Entry& entry) {
    if (entry.deadline > now) {
      Watch(entry.deadline);
      return false;
    }
    FailOverdue(entry);
    return true;
  });
}

void Pipeline::FailOverdue(Entry& entry) {
  ++stats_.timeouts;
  Fail(entry, PeerError(kUnavailable, "the command could not be sent in time"));
  if (ready()) {
    probing_ = false;
  } else if (!down_) {
    down_ = PeerError(kUnavailable, "no connection in time; is the server running there?");
  }
}

void Pipeline::CompleteFailed() {
  for (Failed& failed : std::exchange(failed_, {})) failed.done(std::move(failed.error));
}

void Pipeline::Close(const Error& why) {
  Lost(why);
  GiveUp(why);
  while (!failed_.empty()) CompleteFailed();
}

Error Pipeline::PeerError(ErrorCode code, std::string_view what) const {
  return {code, peer_ + ": " + std::string(what), {}};
}

}  // namespace brim::redis

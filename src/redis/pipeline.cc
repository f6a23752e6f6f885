#include "redis/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "redis/command.h"
#include "redis/reply_error.h"

namespace brim::redis {

using enum ErrorCode;

Pipeline::Pipeline(PipelineOptions options) : options_(std::move(options)) {}

void Pipeline::Run(std::string command, Instant deadline, Done done) {
  Queue({Kind::kRun, std::move(command), deadline, std::move(done)});
}

void Pipeline::Eval(const Script& script, std::string command, Instant deadline, Done done) {
  Queue({Kind::kEval, std::move(command), deadline, std::move(done), &script});
}

void Pipeline::Queue(Entry entry) {
  if (down_) return Fail(entry, *down_);
  if (queued_.size() + sent_.size() + unscripted_.size() >= limits::kMaxRepliesWaiting) {
    return Fail(entry, PeerError(kUnavailable, "too many commands wait for a reply"));
  }
  Watch(entry.deadline);
  queued_.push_back(std::move(entry));
}

void Pipeline::QueueOwn(Kind kind, std::string command, Instant deadline, const Script* script) {
  Watch(deadline);
  own_.push_back({kind, std::move(command), deadline, nullptr, script});
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
  sign_in_missing_ = static_cast<int>(own_.size());
}

void Pipeline::Collect(Instant now, std::string& out) {
  for (Entry& entry : own_) {
    stats_.script_loads += entry.kind == Kind::kScriptLoad;
    Send(std::move(entry), out);
  }
  own_.clear();
  if (state_ != State::kReady) return;
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

void Pipeline::Send(Entry entry, std::string& out) {
  entry.first_byte = bytes_collected_;
  bytes_collected_ += entry.command.size();
  out += entry.command;
  if (entry.kind != Kind::kEval) entry.command = {};
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
  return {};
}

Result<void> Pipeline::Answer(Entry entry, const Reply& reply, Instant now) {
  if (entry.kind == Kind::kScriptLoad) {
    AnswerScriptLoad(entry.script, reply);
  } else if (entry.own()) {
    return AnswerSignIn(entry.kind, reply);
  } else if (reply.type() != ReplyType::kError) {
    entry.done(reply);
  } else if (entry.kind == Kind::kEval && entry.loads < limits::kMaxScriptLoads &&
             ErrorWord(reply.text()) == "NOSCRIPT") {
    MissScript(std::move(entry), now);
  } else {
    entry.done(ReplyError(reply.text()));
  }
  return {};
}

// A name is a comfort: only a server that will refuse everything else too is an error there.
Result<void> Pipeline::AnswerSignIn(Kind kind, const Reply& reply) {
  if (reply.type() == ReplyType::kError) {
    const std::string_view word = ErrorWord(reply.text());
    const bool fatal = kind != Kind::kSetName || word == "NOAUTH" || word == "DENIED";
    // The text of an error may repeat the arguments: after AUTH it must not be shown.
    const bool secret = kind == Kind::kAuth;
    const Error error = ReplyError(secret ? word : reply.text());
    if (fatal) {
      return PeerError(error.code, secret ? "AUTH failed, check user and password; " + error.message
                                          : error.message);
    }
  }
  if (--sign_in_missing_ > 0) return {};
  state_ = State::kReady;
  down_.reset();
  setup_deadline_.reset();
  ++stats_.connects;
  return {};
}

void Pipeline::MissScript(Entry entry, Instant now) {
  const Script* const script = entry.script;
  ++entry.loads;
  unscripted_.push_back(std::move(entry));
  if (std::ranges::find(loading_, script) != loading_.end()) return;
  loading_.push_back(script);
  QueueOwn(Kind::kScriptLoad, Command(3).Arg("SCRIPT").Arg("LOAD").Arg(script->text()).Take(),
           now + options_.setup_timeout, script);
}

void Pipeline::AnswerScriptLoad(const Script* script, const Reply& reply) {
  std::erase(loading_, script);
  std::vector<Entry> missed;
  std::erase_if(unscripted_, [&](Entry& entry) {
    if (entry.script != script) return false;
    missed.push_back(std::move(entry));
    return true;
  });
  if (reply.type() != ReplyType::kError) return Requeue(missed);
  const Error error = ReplyError(reply.text());
  for (Entry& entry : missed) {
    Fail(entry, PeerError(error.code, "SCRIPT LOAD failed: " + error.message));
  }
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
  if (!was_ready) GiveUp(why);
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
  bool overdue = false;
  for (const Entry& entry : sent_) {
    if (entry.deadline > now) {
      Watch(entry.deadline);
      continue;
    }
    overdue = true;
    stats_.timeouts += !entry.own();
  }
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
  return {code, options_.peer + ": " + std::string(what), {}};
}

}  // namespace brim::redis

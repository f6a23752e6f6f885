// The rules of a Redis connection, without socket and clock: which commands may leave, which reply
// belongs to which, what a lost connection means for each of them. Client does what it says.
//
// A command is in one of four places: `queued_` (not written), `sent_` (written, its reply is
// awaited; replies come in order), `unscripted_` (answered NOSCRIPT, waits for SCRIPT LOAD, or
// READONLY, waits for the next connection) or `delayed_` (answered LOADING or the like, waits to be
// asked again). What brim itself asks (sign-in, SCRIPT LOAD) is queued in `own_` and leaves first.
// Nothing that may have run is ever sent again.
//
// The circuit breaker is `down_`: while it is set, commands fail at once. It opens when an attempt
// to connect fails, when a command has waited for one in vain, and when connections are lost to
// late replies kLateRepliesToOpen times in a row. The half-open probe is the next sign-in, with its
// self-test; after late replies it is one command of a caller besides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brim/clock.h>
#include <brim/function.h>
#include <brim/result.h>
#include "redis/client_stats.h"
#include "redis/fifo.h"
#include "redis/redirect.h"
#include "redis/resp.h"
#include "redis/script.h"

namespace brim::redis {

struct PipelineOptions {
  std::string peer = {};  // for messages, until SetPeer
  std::string user = {};
  std::string password = {};
  int db = 0;
  std::string client_name = {};
  Micros
      setup_timeout{};  // from the first step of connecting until signed in; of a SCRIPT LOAD too
  const Script* self_test = nullptr;  // see ClientOptions
  bool check_role = false;            // refuses a server that says it is no primary
  std::uint64_t jitter_seed = 0;
  OnRedirect redirect = nullptr;  // null: MOVED and ASK are errors
};

// Thread-compatible. A Done is called from Received, CompleteFailed and Close alone; it may call
// Run and Eval of the same pipeline, nothing else.
class Pipeline {
 public:
  using Done = ReplyDone;

  explicit Pipeline(PipelineOptions options);

  void Run(std::string command, Instant deadline, Done done);
  // `script` must outlive the pipeline.
  void Eval(const Script& script, std::string command, Instant deadline, Done done);
  // What another node sent away.
  void Forward(Redirected redirected);

  // What happens to the connection, told by its owner: Connecting and Connected in this order, then
  // Collect, Written and Received in any order; Lost at any time after Connecting.
  void SetPeer(std::string peer) { peer_ = std::move(peer); }
  void Connecting(Instant now);
  void Connected();
  // Appends all that may leave now. What was collected counts as written.
  void Collect(Instant now, std::string& out);
  // That many of the collected bytes may have left: the rest surely never reached the server.
  void Written(std::size_t bytes) { bytes_taken_ += bytes; }
  // Where received bytes are to be put, and that some were. An error means: drop the connection,
  // and tell Lost this reason.
  std::span<char> ReadBuffer() { return decoder_.Prepare(); }
  Result<void> Received(std::size_t bytes, Instant now);
  void Lost(const Error& why);

  // Time passes; an error is as above. Nothing happens before NextDeadline(), which is never late
  // but may be early; nullopt: no deadline is kept.
  Result<void> Tick(Instant now);
  std::optional<Instant> NextDeadline() const { return next_deadline_; }

  // Completes the commands that failed until now.
  void CompleteFailed();
  // Completes every command, and from now on fails each at once.
  void Close(const Error& why);

  bool ready() const { return state_ == State::kReady; }
  // Why commands fail at once, if they do.
  const std::optional<Error>& down() const { return down_; }
  // Whether the server refused to let us in when it was last asked.
  bool refused() const { return down_.has_value() && down_->code == ErrorCode::kSetup; }
  // Commands, of callers and our own.
  std::size_t waiting() const {
    return own_.size() + queued_.size() + sent_.size() + unscripted_.size() + delayed_.size();
  }
  // How many connections in a row were lost to late replies.
  int late_in_a_row() const { return late_in_a_row_; }
  const ClientStats& stats() const { return stats_; }

 private:
  enum class State : std::uint8_t { kDown, kConnecting, kSigningIn, kReady };
  enum class Kind : std::uint8_t {
    kRun,
    kEval,
    kAuth,
    kSelect,
    kSetName,
    kRole,
    kSelfTest,
    kAsking,
    kScriptLoad
  };
  struct Entry {
    Kind kind;
    std::string command;
    Instant deadline;
    Done done = nullptr;             // of kRun and kEval
    const Script* script = nullptr;  // of kEval and kScriptLoad
    int loads = 0;                   // of kEval: how often the script was missing
    int repeats = 0;                 // how often the server had surely not run it
    int hops = 0;                    // how many nodes sent it away
    bool asking = false;             // ASKING goes before it
    Instant not_before = {};         // of a delayed one
    std::uint64_t first_byte = 0;    // of a sent one: its place in the stream
    bool own() const { return kind != Kind::kRun && kind != Kind::kEval; }
  };
  struct Failed {
    Done done;
    Error error;
  };

  void QueueSelfTest();
  void SignInFurther(Instant now);
  void Queue(Entry entry);
  void QueueOwn(Kind kind, std::string command, Instant deadline, const Script* script = nullptr);
  void Send(Entry entry, std::string& out);
  void Watch(Instant deadline);

  Result<void> Answer(Entry entry, const Reply& reply, Instant now);
  void AnswerError(Entry entry, std::string_view text, Instant now);
  bool SendAway(Entry& entry, std::string_view text);
  bool AskAgainLater(Entry& entry, Instant now);
  Result<void> AnswerSignIn(Kind kind, const Reply& reply);
  Result<void> RefusedSignIn(Kind kind, std::string_view text);
  Result<void> AnswerSelfTest(const Reply& reply) const;
  void SignedIn();
  void MissScript(Entry entry, Instant now);
  void LoadScript(const Script* script, Instant deadline);
  Result<void> AnswerScriptLoad(const Script* script, const Reply& reply);
  void Requeue(std::vector<Entry>& entries);
  bool TakesProbe() { return ready() && !std::exchange(probing_, true); }

  void ExpireUnsent(std::vector<Entry>& entries, Instant now);
  void FailOverdue(Entry& entry);
  void Fail(Entry& entry, Error error) {
    failed_.push_back({std::move(entry.done), std::move(error)});
  }
  void GiveUp(Error why);
  Error PeerError(ErrorCode code, std::string_view what) const;

  const PipelineOptions options_;
  std::string peer_;
  State state_ = State::kDown;
  std::optional<Error> down_;     // see above
  bool probing_ = false;          // down_ and ready: a command of a caller is under way
  int late_in_a_row_ = 0;         // connections lost to late replies, with no reply in between
  std::optional<Error> leaving_;  // it became a replica: dropped when nothing is awaited
  Decoder decoder_;
  std::vector<Entry> own_;
  std::vector<Entry> queued_;
  Fifo<Entry> sent_;
  std::vector<Entry> unscripted_;
  std::vector<Entry> delayed_;
  std::vector<const Script*> loading_;  // a SCRIPT LOAD is in own_ or sent_
  std::vector<Failed> failed_;          // for CompleteFailed
  int sign_in_missing_ = 0;             // replies
  bool untested_ = false;               // the self-test waits for the first command
  bool counted_ = false;                // this connection is, in stats_.connects
  std::uint64_t bytes_collected_ = 0;   // of this connection
  std::uint64_t bytes_taken_ = 0;
  std::optional<Instant> setup_deadline_;  // while connecting and signing in
  std::optional<Instant> next_deadline_;   // no deadline of anything here is earlier
  std::minstd_rand random_;
  ClientStats stats_;
};

}  // namespace brim::redis

// What commands are given to: one server (Client), or the nodes of a cluster (Cluster).
#pragma once

#include <string>

#include <brim/clock.h>
#include "redis/client_stats.h"
#include "redis/redirect.h"
#include "redis/script.h"

namespace boost::asio {
class io_context;
}

namespace brim::redis {

// Loop-bound: every call, the destructor included, on the thread that runs the io_context (or
// while nobody runs it). A Done may call Run and Eval, but must not destroy the link.
class Link {
 public:
  // Called exactly once, in a later turn of the loop or by the destructor, never from within Run
  // or Eval. The reply and its views are valid within the call. An error reply of the server is
  // an Error (see ReplyError).
  //   kUnavailable  surely not executed: no connection, not written in time, too many waiting
  //   kUnknown      written, but no reply in time or the connection was lost: it may have run
  using Done = ReplyDone;

  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  // Completes all waiting commands first: written ones with kUnknown, others with kUnavailable.
  virtual ~Link() = default;

  // Connects in the background. Call it once.
  virtual void Start() = 0;

  // One encoded command (Command::Take). What the server says it did not run, and may run soon
  // (LOADING, BUSY, ...), is asked again within the deadline, at most kMaxRepeats times.
  virtual void Run(std::string command, Micros timeout, Done done) = 0;

  // The same for an EVALSHA of `script` (which outlives the link). If the server does not know
  // the script, it is loaded, once however many commands missed it, and these are sent again
  // within their deadlines: later than commands that were not missed, in order among themselves.
  virtual void Eval(const Script& script, std::string command, Micros timeout, Done done) = 0;

  virtual bool ready() const = 0;  // a command would leave at once
  virtual ClientStats stats() const = 0;
};

}  // namespace brim::redis

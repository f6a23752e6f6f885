// The signals of a server, taken one by one by its main thread instead of by handlers.
#pragma once

#include <chrono>
#include <csignal>

namespace brim::cli {

// Blocks SIGHUP, SIGINT and SIGTERM in this thread and those it starts from now on, and ignores
// SIGPIPE. Make it before any other thread. Used by the main thread alone.
class Signals {
 public:
  Signals();

  enum class Event { kNone, kReload, kEnd };
  // The next signal; kNone if there is none for `patience`. After kEnd the next SIGINT or SIGTERM
  // ends the process at once.
  Event Wait(std::chrono::milliseconds patience);

 private:
  sigset_t set_;
};

}  // namespace brim::cli

// The signals of a server, taken one by one by its main thread instead of by handlers, and what
// else that thread waits for.
#pragma once

#include <chrono>
#include <csignal>
#include <span>

namespace brim::cli {

// Blocks SIGHUP, SIGINT and SIGTERM in this thread and those it starts from now on, and ignores
// SIGPIPE. Make it before any other thread. Used by the main thread alone.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  enum class Event { kNone, kReload, kEnd, kReadable };
  // The next signal; else kReadable if one of the descriptors is; kNone if nothing comes for
  // `patience`. After kEnd the next SIGINT or SIGTERM ends the process at once.
  Event Wait(std::chrono::milliseconds patience, std::span<const int> descriptors = {});

 private:
  sigset_t set_;
  int fd_;  // a signalfd
};

}  // namespace brim::cli

#include "cli/signals.h"

#include <pthread.h>

namespace brim::cli {
namespace {

void EndAtTheNext(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

Signals::Signals() {
  sigemptyset(&set_);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&set_, signal);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

Signals::Event Signals::Wait(std::chrono::milliseconds patience) {
  const timespec wait{.tv_sec = patience.count() / 1000,
                      .tv_nsec = patience.count() % 1000 * 1'000'000};
  switch (sigtimedwait(&set_, nullptr, &wait)) {
    case SIGHUP:
      return Event::kReload;
    case SIGINT:
    case SIGTERM:
      EndAtTheNext(SIGINT);
      EndAtTheNext(SIGTERM);
      return Event::kEnd;
    default:
      return Event::kNone;
  }
}

}  // namespace brim::cli

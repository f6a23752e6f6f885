#include "cli/signals.h"

#include <vector>

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/assert.h"

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
  fd_ = signalfd(-1, &set_, SFD_NONBLOCK | SFD_CLOEXEC);
  BRIM_ASSERT(fd_ >= 0);
}

Signals::~Signals() { close(fd_); }

Signals::Event Signals::Wait(std::chrono::milliseconds patience, std::span<const int> descriptors) {
  std::vector<pollfd> polled{{.fd = fd_, .events = POLLIN, .revents = 0}};
  for (const int fd : descriptors) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  if (poll(polled.data(), polled.size(), static_cast<int>(patience.count())) <= 0) {
    return Event::kNone;
  }
  signalfd_siginfo info;
  if (read(fd_, &info, sizeof(info)) != sizeof(info)) return Event::kReadable;
  if (info.ssi_signo == SIGHUP) return Event::kReload;
  EndAtTheNext(SIGINT);
  EndAtTheNext(SIGTERM);
  return Event::kEnd;
}

}  // namespace brim::cli

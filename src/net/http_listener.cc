#include "net/http_listener.h"

#include <cerrno>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace brim::net {
namespace {

using boost::system::error_code;

// An IPv4 address that is mapped into IPv6 is written as IPv4.
std::string AddressText(const sockaddr_storage& peer) {
  char text[INET6_ADDRSTRLEN] = {};
  if (peer.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, text, sizeof(text));
  } else if (peer.ss_family == AF_INET6) {
    const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
    const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&address);
    inet_ntop(is_mapped ? AF_INET : AF_INET6, is_mapped ? &address.s6_addr[12] : address.s6_addr,
              text, sizeof(text));
  } else {
    return "unix";
  }
  return text;
}

}  // namespace

HttpListener::HttpListener(std::shared_ptr<HttpShard> home, int fd, int family)
    : home_(std::move(home)),
      protocol_(family, family == AF_UNIX ? 0 : IPPROTO_TCP),
      acceptor_(home_->shard.io()) {
  error_code error;
  acceptor_.assign(protocol_, fd, error);
  if (error) close(fd);
}

void HttpListener::Wait() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_wait(acceptor_.wait_read, [self = shared_from_this()](error_code error) {
    if (error) return;
    if (self->AcceptSome()) return self->Wait();
    // No descriptor is left: the next attempt waits, or the loop would spin.
    TimerWheel& wheel = self->home_->shard.wheel();
    wheel.Set(*self, wheel.In(limits::kAcceptRetry));
  });
}

// Stops when nobody waits, after kMaxAcceptsPerTurn, or when the system has no resources: false.
bool HttpListener::AcceptSome() {
  for (int i = 0; i < limits::kMaxAcceptsPerTurn && acceptor_.is_open(); ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    const int fd = accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Serve(fd, AddressText(peer));
      continue;
    }
    if (errno == EAGAIN) return true;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return false;
    // Anything else is the fault of that one connection, which is gone.
  }
  return true;
}

void HttpListener::Serve(int fd, std::string peer_address) {
  if (home_->sessions.size() >= home_->options.max_connections) {
    close(fd);
    return;
  }
  Socket socket(home_->shard.io());
  error_code error;
  socket.assign(protocol_, fd, error);
  if (error) {
    close(fd);
    return;
  }
  socket.non_blocking(true, error);
  std::make_shared<HttpSession>(home_, std::move(socket), std::move(peer_address))->Start();
}

void HttpListener::Close() {
  AcceptSome();  // closing would reset those who are connected and wait to be accepted
  error_code ignored;
  acceptor_.close(ignored);
  home_->shard.wheel().Remove(*this);
}

}  // namespace brim::net

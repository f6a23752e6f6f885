#include "net/listen_socket.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace brim::net {
namespace {

Error Refuse(const ListenAddress& address, const std::string& why) {
  return {.code = ErrorCode::kInvalid,
          .message = "cannot listen on " + address.ToString() + ": " + why,
          .field = "listen"};
}

std::string Reason(int error) { return std::generic_category().message(error); }

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Result<Endpoint> Resolve(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int error = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return Refuse(address, gai_strerror(error));
  Endpoint endpoint;
  std::memcpy(&endpoint.storage, found->ai_addr, found->ai_addrlen);
  endpoint.size = found->ai_addrlen;
  freeaddrinfo(found);
  return endpoint;
}

void SetOption(int fd, int level, int option) {
  const int on = 1;
  setsockopt(fd, level, option, &on, sizeof(on));
}

std::uint16_t BoundPort(int fd) {
  Endpoint bound;
  if (getsockname(fd, bound.get(), &bound.size) != 0) return 0;
  if (bound.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(bound.storage).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(bound.storage).sin_port);
}

// SO_REUSEPORT alone would let a second brim of the same user take half of the first one's clients.
bool IsPortTaken(Endpoint endpoint) {
  const int fd = socket(endpoint.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;  // BindAndListen will tell why
  SetOption(fd, SOL_SOCKET, SO_REUSEADDR);
  if (endpoint.storage.ss_family == AF_INET6) SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY);
  const bool taken = bind(fd, endpoint.get(), endpoint.size) != 0 && errno == EADDRINUSE;
  close(fd);
  return taken;
}

Result<ListenSocket> BindAndListen(const ListenAddress& address, Endpoint endpoint) {
  const int family = endpoint.storage.ss_family;
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Refuse(address, Reason(errno));
  if (family != AF_UNIX) {
    SetOption(fd, SOL_SOCKET, SO_REUSEADDR);
    SetOption(fd, SOL_SOCKET, SO_REUSEPORT);
    SetOption(fd, IPPROTO_TCP, TCP_NODELAY);  // what it accepts has it too
  }
  if (family == AF_INET6) SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY);
  if (bind(fd, endpoint.get(), endpoint.size) != 0 || listen(fd, SOMAXCONN) != 0) {
    const int error = errno;
    close(fd);
    return Refuse(address, Reason(error));
  }
  ListenSocket socket{.fd = fd, .family = family, .address = address};
  if (family != AF_UNIX) socket.address.port = BoundPort(fd);
  return socket;
}

// Whether somebody accepts there. Anything but a refusal counts as somebody.
bool IsServed(Endpoint endpoint) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  const bool refused = connect(fd, endpoint.get(), endpoint.size) != 0 && errno == ECONNREFUSED;
  close(fd);
  return !refused;
}

Result<ListenSocket> OpenUnix(const ListenAddress& address) {
  Endpoint endpoint;
  auto& name = reinterpret_cast<sockaddr_un&>(endpoint.storage);
  if (address.unix_path.size() >= sizeof(name.sun_path)) {
    return Refuse(address, "the path is longer than 107 bytes");
  }
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, address.unix_path.c_str(), address.unix_path.size() + 1);
  endpoint.size = sizeof(sockaddr_un);

  struct stat file{};
  if (lstat(address.unix_path.c_str(), &file) == 0) {
    if (!S_ISSOCK(file.st_mode)) return Refuse(address, "the file is there and is no socket");
    if (IsServed(endpoint)) return Refuse(address, "another process listens there");
    unlink(address.unix_path.c_str());
  }
  return BindAndListen(address, endpoint);
}

}  // namespace

Result<ListenSocket> OpenListenSocket(const ListenAddress& address, PortUse use) {
  if (address.is_unix()) return OpenUnix(address);
  const Result<Endpoint> endpoint = Resolve(address);
  if (!endpoint) return endpoint.error();
  if (use == PortUse::kTake && IsPortTaken(*endpoint)) return Refuse(address, Reason(EADDRINUSE));
  return BindAndListen(address, *endpoint);
}

}  // namespace brim::net

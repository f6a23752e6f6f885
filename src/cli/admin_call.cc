#include "cli/admin_call.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/listen_address.h"

namespace brim::cli {
namespace {

constexpr timeval kPatience{.tv_sec = 10, .tv_usec = 0};  // a reload of many rules takes a second

class Socket {
 public:
  explicit Socket(int family) : fd_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool Connect(const sockaddr* address, socklen_t size) { return connect(fd_, address, size) == 0; }
  bool Send(std::string_view text) {
    while (!text.empty()) {  // stops: each turn sends a part
      const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // All until the other side ends; false if it does not, or sends more than any answer has.
  bool ReceiveAll(std::string& text) {
    char buffer[4096];
    while (text.size() <= limits::kMaxBodyBytes) {  // stops: at the end, an error, too much
      const ssize_t size = recv(fd_, buffer, sizeof(buffer), 0);
      if (size <= 0) return size == 0;
      text.append(buffer, static_cast<std::size_t>(size));
    }
    return false;
  }

 private:
  const int fd_;
};

Error Unreachable(const std::string& address, std::string_view what) {
  return {ErrorCode::kUnavailable,
          "no brim answers at " + address + " (" + std::string(what) +
              "); give the address of its admin listener with --admin, or its --config",
          "admin"};
}

Result<std::unique_ptr<Socket>> Connect(const std::string& text) {
  const auto address = net::ParseListenAddress(text);
  if (!address) return address.error();
  if (address->is_unix()) {
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    address->unix_path.copy(where.sun_path, sizeof(where.sun_path) - 1);
    auto socket = std::make_unique<Socket>(AF_UNIX);
    if (socket->Connect(reinterpret_cast<const sockaddr*>(&where), sizeof(where))) return socket;
    return Unreachable(text, std::strerror(errno));
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address->port);
  if (getaddrinfo(address->host.c_str(), port.c_str(), &hints, &found) != 0) {
    return Unreachable(text, "there is no such host");
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    auto socket = std::make_unique<Socket>(one->ai_family);
    if (socket->Connect(one->ai_addr, one->ai_addrlen)) return socket;
  }
  return Unreachable(text, std::strerror(errno));
}

}  // namespace

Result<AdminAnswer> CallAdmin(const std::string& address, std::string_view method,
                              std::string_view path, std::string_view token) {
  const auto socket = Connect(address);
  if (!socket) return socket.error();
  std::string request(method);
  request.append(" ").append(path).append(" HTTP/1.1\r\nHost: brim\r\nConnection: close\r\n");
  if (!token.empty()) request.append("Authorization: Bearer ").append(token).append("\r\n");
  request += "Content-Length: 0\r\n\r\n";
  std::string reply;
  if (!(*socket)->Send(request) || !(*socket)->ReceiveAll(reply)) {
    return Unreachable(address, "it does not answer in time");
  }
  constexpr std::string_view kStatusLine = "HTTP/1.1 ";
  const std::size_t body = reply.find("\r\n\r\n");
  AdminAnswer answer;
  if (!reply.starts_with(kStatusLine) || body == std::string::npos) {
    return Unreachable(address, "what it answers is no HTTP");
  }
  std::from_chars(reply.data() + kStatusLine.size(), reply.data() + body, answer.status);
  answer.body = reply.substr(body + 4);
  return answer;
}

}  // namespace brim::cli

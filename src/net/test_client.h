// A blocking HTTP client for tests: it sends bytes as they are, and gives up after ten seconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "net/listen_address.h"

namespace brim::net {

class TestClient {
 public:
  // `address` as HttpServer::addresses() tells it: 127.0.0.1 or a unix socket.
  explicit TestClient(const std::string& address) {
    const ListenAddress to = ParseListenAddress(address).value();
    fd_ = socket(to.is_unix() ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un path{};
    sockaddr_in host{};
    path.sun_family = AF_UNIX;
    to.unix_path.copy(path.sun_path, sizeof(path.sun_path) - 1);
    host.sin_family = AF_INET;
    host.sin_port = htons(to.port);
    host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        (to.is_unix() ? connect(fd_, reinterpret_cast<sockaddr*>(&path), sizeof(path))
                      : connect(fd_, reinterpret_cast<sockaddr*>(&host), sizeof(host))) == 0;
  }
  ~TestClient() { Close(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool connected() const { return connected_; }

  // False: the server has closed.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void EndSending() { shutdown(fd_, SHUT_WR); }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  // Whether bytes, or the end, come within `time`.
  bool Readable(std::chrono::milliseconds time) {
    pollfd waits{.fd = fd_, .events = POLLIN, .revents = 0};
    return poll(&waits, 1, static_cast<int>(time.count())) > 0;
  }

  // One response by its Content-Length; `has_body` is false for HEAD. What comes behind stays.
  std::string ReadResponse(bool has_body = true) {
    std::size_t end = std::string::npos;
    while ((end = have_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadMore()) return Take(have_.size());
    }
    end += 4;
    const std::size_t length = have_.find("Content-Length: ");
    if (has_body && length < end) end += std::stoul(have_.substr(length + 16));
    while (have_.size() < end && ReadMore()) {
    }
    return Take(end);
  }

  // All that comes until the server closes.
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    EXPECT_TRUE(ended_) << "the server did not close";
    return Take(have_.size());
  }

  std::string Ask(std::string_view request) {
    Send(request);
    return ReadResponse();
  }

 private:
  bool ReadMore() {
    if (!Readable(std::chrono::seconds(10))) {
      ADD_FAILURE() << "nothing came for ten seconds, after: " << have_.substr(0, 200);
      return false;
    }
    char bytes[16 << 10];
    const ssize_t count = recv(fd_, bytes, sizeof(bytes), 0);
    ended_ = count <= 0;
    if (count > 0) have_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }
  std::string Take(std::size_t count) {
    std::string taken = have_.substr(0, count);
    have_.erase(0, count);
    return taken;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string have_;
};

}  // namespace brim::net

#include "support/resp_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "redis/command.h"

namespace brim::testing {
namespace {

std::string Print(const redis::Reply& reply) {
  switch (reply.type()) {
    case redis::ReplyType::kNull:
      return "(nil)";
    case redis::ReplyType::kInteger:
      return std::to_string(reply.integer());
    case redis::ReplyType::kError:
      return std::string("-").append(reply.text());
    case redis::ReplyType::kSimple:
    case redis::ReplyType::kBulk:
      return std::string(reply.text());
    case redis::ReplyType::kArray:
      break;
  }
  std::string lines;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    if (i > 0) lines += '\n';
    lines += Print(reply[i]);
  }
  return lines;
}

}  // namespace

RespSocket::RespSocket(const std::string& unix_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (unix_path.size() >= sizeof(address.sun_path)) return;
  unix_path.copy(address.sun_path, unix_path.size());
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) Close();
}

RespSocket::~RespSocket() { Close(); }

void RespSocket::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::string RespSocket::Ask(const std::vector<std::string_view>& args) {
  redis::Command command(args.size());
  for (const std::string_view arg : args) command.Arg(arg);
  if (ok() && Send(command.Take())) {
    do {
      if (decoder_.Next() == redis::Decoder::Status::kReply) return Print(decoder_.reply());
    } while (Receive());
  }
  Close();
  return "(no answer)";
}

bool RespSocket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RespSocket::Receive() {
  const auto space = decoder_.Prepare();
  const ssize_t received = recv(fd_, space.data(), space.size(), 0);
  if (received <= 0) return false;
  decoder_.Commit(static_cast<std::size_t>(received));
  return true;
}

}  // namespace brim::testing

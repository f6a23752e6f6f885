// The simplest Redis client: one blocking question at a time, over a unix socket.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redis/resp.h"

namespace brim::testing {

// Thread-compatible. Any failure closes it for good: ok() tells.
class RespSocket {
 public:
  explicit RespSocket(const std::string& unix_path);
  ~RespSocket();
  RespSocket(const RespSocket&) = delete;
  RespSocket& operator=(const RespSocket&) = delete;

  bool ok() const { return fd_ >= 0; }
  // See RedisServer::Command.
  std::string Ask(const std::vector<std::string_view>& args);

 private:
  void Close();
  bool Send(std::string_view bytes);
  bool Receive();  // one more piece of the answer

  int fd_ = -1;
  redis::Decoder decoder_;
};

}  // namespace brim::testing

// A Lua script that the server runs by its hash.
#pragma once

#include <string>

namespace brim::redis {

// A plain value. What Client::Eval is given must outlive the client: keep scripts for good.
class Script {
 public:
  explicit Script(std::string text);

  const std::string& text() const { return text_; }
  const std::string& sha1() const { return sha1_; }  // 40 lower-case hex digits

 private:
  std::string text_;
  std::string sha1_;
};

}  // namespace brim::redis

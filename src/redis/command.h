// One Redis command as bytes: an array of bulk strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brim::redis {

//   std::string get = Command(2).Arg("GET").Arg(key).Take();
// Thread-compatible.
class Command {
 public:
  // `bytes` is a guess of the whole size: a good one saves allocations.
  explicit Command(std::size_t arg_count, std::size_t bytes = 128);

  Command& Arg(std::string_view arg);  // any bytes
  Command& Arg(const char* arg) { return Arg(std::string_view(arg)); }
  Command& Arg(const std::string& arg) { return Arg(std::string_view(arg)); }
  Command& Arg(std::int64_t number);  // in decimal
  Command& Arg(int number) { return Arg(std::int64_t{number}); }

  // Where the last argument ends in the bytes.
  std::size_t EndOfLastArg() const { return bytes_.size() - 2; }

  // REQUIRES: exactly arg_count arguments were added. The command is used up.
  std::string Take();

 private:
  std::size_t missing_;
  std::string bytes_;
};

}  // namespace brim::redis

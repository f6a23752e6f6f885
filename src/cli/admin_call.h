// One question to the admin listener of a running brim, over HTTP/1.1.
#pragma once

#include <string>
#include <string_view>

#include <brim/result.h>

namespace brim::cli {

struct AdminAnswer {
  int status = 0;
  std::string body;
};

// `address` is one to listen on: host:port, [v6]:port or unix:/path. Blocks for some seconds at
// most while nothing comes. kUnavailable: nobody answers there, or no HTTP.
Result<AdminAnswer> CallAdmin(const std::string& address, std::string_view method,
                              std::string_view path, std::string_view token);

}  // namespace brim::cli

// Where a server listens, as text and as a value: `host:port`, `[v6]:port` or `unix:/path`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <brim/result.h>

namespace brim::net {

struct ListenAddress {
  std::string host;  // name or address; empty for a unix socket
  std::uint16_t port = 0;
  std::string unix_path;  // empty for TCP

  bool is_unix() const { return !unix_path.empty(); }
  std::string ToString() const;  // what ParseListenAddress reads
};

// Port 0 takes a free one. An Error is kInvalid with field `listen`.
Result<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace brim::net

// What a client has done so far.
#pragma once

#include <cstdint>

namespace brim::redis {

// Counted since the client was made. A plain value.
struct ClientStats {
  std::uint64_t commands = 0;      // of callers, written; a repeated one counts twice
  std::uint64_t script_loads = 0;  // SCRIPT LOADs written
  std::uint64_t connects = 0;      // connections that became ready
  std::uint64_t timeouts = 0;      // commands of callers that ran into their deadline
};

}  // namespace brim::redis

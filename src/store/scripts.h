// The Lua scripts that the Redis store runs: store/lua/*.lua, put together when brim is built.
#pragma once

#include <string_view>

namespace brim {

// begin.lua, one fragment an algorithm, look.lua, then take.lua, peek.lua or refund.lua. Texts live
// for ever.
struct RedisScripts {
  std::string_view
      take;  // also charges. `#!lua`: the server refuses it up front if it cannot write
  std::string_view peek;    // `#!lua flags=no-writes`: works on a full server too
  std::string_view refund;  // `#!lua flags=allow-oom`: it makes room
};

RedisScripts ShippedScripts();

}  // namespace brim

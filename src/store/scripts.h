// The Lua scripts that the Redis store runs: store/lua/*.lua, put together when brim is built.
#pragma once

#include <string_view>

namespace brim {

// take_logs.lua and self_test.lua stand alone. The others are begin.lua, one fragment an algorithm,
// look.lua, and then take.lua, peek.lua or refund.lua. Texts live for ever.
struct RedisScripts {
  // Of sliding-window logs at cost 1: the commonest shape. `#!lua`, as take.
  std::string_view take_logs;
  // Takes and charges. `#!lua`: the server refuses it up front if it cannot write.
  std::string_view take;
  // `#!lua flags=no-writes`: works on a full server too.
  std::string_view peek;
  // `#!lua flags=allow-oom`: it makes room.
  std::string_view refund;
  // Of redis::ClientOptions: which rights are missing?
  std::string_view self_test = {};
};

RedisScripts ShippedScripts();

}  // namespace brim

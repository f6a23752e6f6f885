// Store URLs, as in --store, BRIM_STORE and the configuration.
#pragma once

#include <string_view>
#include <variant>

#include <brim/result.h>
#include "redis/client.h"

namespace brim {

struct MemoryUrl {};
using StoreUrl = std::variant<MemoryUrl, redis::ClientOptions>;

// memory:// | redis://[user:password@]host[:port][/db] | unix://[user:password@]/path[?db=N]. User
// and password are percent-decoded. kInvalid, field "store"; the message never holds the password.
// Pure.
Result<StoreUrl> ParseStoreUrl(std::string_view url);

}  // namespace brim

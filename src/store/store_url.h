// Store URLs, as in --store, BRIM_STORE and the configuration.
#pragma once

#include <string_view>
#include <variant>

#include <brim/result.h>
#include "redis/client.h"

namespace brim {

struct MemoryUrl {};
using StoreUrl = std::variant<MemoryUrl, redis::ClientOptions>;

//   memory://
//   redis://[user:password@]host[:port][/db]
//   unix://[user:password@]/path[?db=N]
//   redis+sentinel://[user:password@]host[:port],.../master_name[/db][?sentinel_user=U
//     &sentinel_password=P&sentinel_tls=no]
//   redis+cluster://[user:password@]host[:port],...
// With `rediss` for `redis`: over TLS, with the parameters cafile, cert, key and server_name. What
// stands before the '@' and in parameters is percent-decoded. The self-test is the scripts'.
// kInvalid, field "store"; the message never holds a password. Pure.
Result<StoreUrl> ParseStoreUrl(std::string_view url);

}  // namespace brim

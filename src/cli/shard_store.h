// The store of a server with shards: one MemoryStore that all share, or a Redis connection for
// each.
#pragma once

#include <memory>
#include <string_view>

#include <brim/result.h>
#include <brim/store.h>
#include "net/shard.h"

namespace brim::cli {

// kInvalid, field "store": what is wrong with the URL. The store must end after the shards were
// stopped, and before they end.
Result<std::unique_ptr<Store>> OpenShardStore(std::string_view url, net::Shards& shards);

}  // namespace brim::cli

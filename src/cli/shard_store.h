// The store of a server with shards: one MemoryStore that all share, or a Redis connection for
// each.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <brim/memory_store.h>
#include <brim/result.h>
#include <brim/store.h>
#include "net/shard.h"

namespace brim::cli {

struct ShardStoreOptions {
  std::size_t max_memory = MemoryStoreOptions{}.max_bytes;  // of the embedded store
  std::string password;                                     // instead of the URL's; empty: none
};

// kInvalid, field "store": what is wrong with the URL. The store must end after the shards were
// stopped, and before they end.
Result<std::unique_ptr<Store>> OpenShardStore(std::string_view url, net::Shards& shards,
                                              const ShardStoreOptions& options = {});

}  // namespace brim::cli

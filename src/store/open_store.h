// Stores from what a URL says.
#pragma once

#include <memory>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include <brim/result.h>
#include <brim/store.h>
#include "store/redis_store.h"

namespace brim {

// Whether a store can be made of these: the files that they name can be read. kInvalid, field
// "store". Blocking.
Result<void> CheckFiles(const redis::ClientOptions& options);

// A RedisStore, or a ClusterStore of one if options.client.cluster is not empty: with a thread of
// its own, or on a loop of the caller's, as RedisStore says. The jitter seed is chosen here.
std::unique_ptr<Store> MakeRedisStore(RedisStoreOptions options);
std::unique_ptr<Store> MakeRedisStore(boost::asio::io_context& io, RedisStoreOptions options);

// As OpenStore, for a program that asks once: without a self-test, of which its answer tells as
// much.
Result<std::unique_ptr<Store>> OpenStoreToAskOnce(std::string_view url);

}  // namespace brim

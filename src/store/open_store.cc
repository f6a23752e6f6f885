#include "store/open_store.h"

#include <random>
#include <string_view>
#include <utility>

#include <boost/asio/ssl/context.hpp>

#include <brim/memory_store.h>
#include "store/cluster_store.h"
#include "store/store_url.h"

namespace brim {
namespace {

std::unique_ptr<Store> Wrap(bool cluster, std::unique_ptr<RedisStore> store) {
  if (!cluster) return store;
  return std::make_unique<ClusterStore>(std::move(store));
}

Result<std::unique_ptr<Store>> Open(std::string_view url, bool self_test) {
  Result<StoreUrl> parsed = ParseStoreUrl(url);
  if (!parsed) return parsed.error();
  if (std::holds_alternative<MemoryUrl>(*parsed)) {
    return std::unique_ptr<Store>(std::make_unique<MemoryStore>());
  }
  auto& client = std::get<redis::ClientOptions>(*parsed);
  if (!self_test) client.self_test = nullptr;
  if (auto checked = CheckFiles(client); !checked) return checked.error();
  return MakeRedisStore({.client = std::move(client)});
}

}  // namespace

Result<void> CheckFiles(const redis::ClientOptions& options) {
  if (!options.tls) return {};
  const auto context = redis::MakeTlsContext(*options.tls);
  if (context) return {};
  return Error{ErrorCode::kInvalid, context.error().message, "store"};
}

std::unique_ptr<Store> MakeRedisStore(RedisStoreOptions options) {
  options.client.jitter_seed = std::random_device{}();
  return Wrap(!options.client.cluster.empty(), std::make_unique<RedisStore>(options));
}

std::unique_ptr<Store> MakeRedisStore(boost::asio::io_context& io, RedisStoreOptions options) {
  options.client.jitter_seed = std::random_device{}();
  return Wrap(!options.client.cluster.empty(), std::make_unique<RedisStore>(io, options));
}

Result<std::unique_ptr<Store>> OpenStore(std::string_view url) { return Open(url, true); }

Result<std::unique_ptr<Store>> OpenStoreToAskOnce(std::string_view url) { return Open(url, false); }

}  // namespace brim

#include "cli/shard_store.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <brim/memory_store.h>
#include "store/open_store.h"
#include "store/store_url.h"

namespace brim::cli {
namespace {

// Asks the connection of the shard that the caller runs on: no hop between threads. A caller that
// is no shard takes the first. What one shard learns of refusals all of them know.
class ShardStore final : public Store {
 public:
  ShardStore(const redis::ClientOptions& client, net::Shards& shards) {
    RedisStoreOptions options{.client = client};
    options.refusals = std::make_shared<RejectMemory>(options.max_refusal_age);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      parts_.push_back(MakeRedisStore(shards[i].io(), options));
    }
  }

  bool TryNow(const Request& request, Taken& taken) override {
    return Part().TryNow(request, taken);
  }
  void Run(const Request& request, Micros timeout, Done done) override {
    Part().Run(request, timeout, std::move(done));
  }
  void RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) override {
    Part().RunBatch(requests, timeout, std::move(done));
  }
  void Reset(std::span<const Key> keys, Micros timeout, ResetDone done) override {
    Part().Reset(keys, timeout, std::move(done));
  }
  bool needs_hash_tag() const override { return parts_.front()->needs_hash_tag(); }

 private:
  Store& Part() {
    return *parts_[static_cast<std::size_t>(std::max(0, net::Shard::CurrentIndex()))];
  }

  std::vector<std::unique_ptr<Store>> parts_;  // by shard
};

}  // namespace

Result<std::unique_ptr<Store>> OpenShardStore(std::string_view url, net::Shards& shards,
                                              const ShardStoreOptions& options) {
  auto parsed = ParseStoreUrl(url);
  if (!parsed) return parsed.error();
  if (auto* client = std::get_if<redis::ClientOptions>(&*parsed)) {
    if (!options.password.empty()) client->password = options.password;
    if (auto checked = CheckFiles(*client); !checked) return checked.error();
    return std::unique_ptr<Store>(std::make_unique<ShardStore>(*client, shards));
  }
  return std::unique_ptr<Store>(
      std::make_unique<MemoryStore>(MemoryStoreOptions{.max_bytes = options.max_memory}));
}

}  // namespace brim::cli

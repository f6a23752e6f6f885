// A Redis Cluster of three primaries, perhaps with a replica each, on free ports.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/redis_server.h"

namespace brim::testing {

// Blocking, thread-compatible; returns when every node says that all is well. A primary that is
// gone is replaced after about a second.
class TestCluster {
 public:
  static constexpr std::size_t kPrimaries = 3;

  explicit TestCluster(bool with_replicas = false, std::vector<std::string> args = {});

  std::size_t size() const { return nodes_.size(); }
  RedisServer& node(std::size_t i) { return *nodes_[i]; }  // the primaries come first
  std::string url(const std::string& user = "") const;     // user: "name:password@"

  // The primary that owns the slot of this key.
  std::size_t OwnerOf(std::string_view key);
  // Moves the slot of this key to the node, with the keys in it (at most two), as redis-cli does.
  void MoveSlot(std::string_view key, std::size_t to);

 private:
  std::size_t OwnerAsSeenBy(std::size_t node, std::string_view key);
  void AwaitHealth(std::size_t nodes);

  std::vector<std::unique_ptr<RedisServer>> nodes_;
  std::vector<std::string> ids_;
};

}  // namespace brim::testing

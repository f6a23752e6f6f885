// A primary, its replica and three sentinels that watch over them, on free ports.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.h"

namespace brim::testing {

// Blocking, thread-compatible; returns when all of them know each other.
class SentinelTrio {
 public:
  static constexpr const char* kMaster = "mymaster";

  // With a password, sentinels want it of their clients (and of each other).
  explicit SentinelTrio(const std::string& sentinel_password = "");
  ~SentinelTrio();
  SentinelTrio(const SentinelTrio&) = delete;
  SentinelTrio& operator=(const SentinelTrio&) = delete;

  RedisServer& primary() { return *primary_; }  // the first one
  RedisServer& replica() { return *replica_; }
  RedisServer& sentinel(std::size_t i) { return *sentinels_[i]; }
  std::string url() const;

 private:
  std::string dir_;
  std::string password_;
  std::unique_ptr<RedisServer> primary_;
  std::unique_ptr<RedisServer> replica_;
  std::vector<std::unique_ptr<RedisServer>> sentinels_;
};

}  // namespace brim::testing

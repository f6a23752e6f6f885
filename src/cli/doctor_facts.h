// What `brim doctor` asks of a store's servers. Whatever the user may not ask for stays out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brim/clock.h>
#include <brim/result.h>
#include "redis/client.h"

namespace brim::cli {

enum class Topology { kSingle, kSentinel, kCluster };

struct NodeFacts {
  std::string address;
  std::map<std::string, std::string, std::less<>> info;     // INFO; empty: may not be asked
  std::map<std::string, std::string, std::less<>> config;   // CONFIG GET; likewise
  std::map<std::string, std::string, std::less<>> cluster;  // CLUSTER INFO, of a cluster
  Micros round_trip{0};                                     // the median of some
  std::optional<Micros> clock_offset;  // the server's clock less ours; within half a round trip
};

struct StoreFacts {
  Topology topology = Topology::kSingle;
  std::vector<NodeFacts> nodes;      // the primaries
  std::optional<Error> check_error;  // why a check does not work, if it does not
  Micros check_cost{0};              // of one of a batch, with two windows; 0: none worked
};

// Blocking, some seconds at most. kUnavailable, kSetup: nothing could be asked.
Result<StoreFacts> AskStore(std::string_view url, const redis::ClientOptions& options);

}  // namespace brim::cli

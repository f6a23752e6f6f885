#include "cli/doctor_findings.h"

#include <cstdlib>
#include <optional>
#include <string_view>

#include "redis/slot.h"

namespace brim::cli {
namespace {

using namespace std::chrono_literals;

constexpr Micros kFarClock = 1s;
constexpr Micros kLongTrip = 10ms;  // a fifth of the time that a check waits by default
constexpr Micros kDearCheck = 200us;

using Fields = std::map<std::string, std::string, std::less<>>;

std::optional<std::string_view> Get(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

// 0 if it is not there.
long long Number(const Fields& fields, std::string_view name) {
  const auto text = Get(fields, name);
  return text ? std::atoll(std::string(*text).c_str()) : 0;
}

bool Is(const Fields& fields, std::string_view name, std::string_view value) {
  return Get(fields, name) == value;
}

// One node's findings, one check after the other.
class NodeDoctor {
 public:
  NodeDoctor(const NodeFacts& node, std::vector<Finding>& findings)
      : node_(node), findings_(findings) {}

  void Look() {
    if (node_.info.empty()) {
      Found("rights", "this user may not ask INFO, so much is not known",
            "run brim doctor as a user with +info +config|get (brim itself needs neither)");
    } else {
      LookAtServer();
      LookAtMemory();
      LookAtData();
    }
    LookAtSettings();
    LookAtTime();
  }

 private:
  void LookAtServer() {
    const auto version = Get(node_.info, "redis_version").value_or("");
    // Valkey tells a redis_version too: 7.2.4.
    if (std::atoi(std::string(version).c_str()) < 7) {
      Found("version", "the server is version " + std::string(version),
            "brim needs Redis 7.0 or newer, or Valkey");
    }
    if (!Is(node_.info, "role", "master")) {
      Found("role", "this server is a replica: it takes no writes",
            "give the address of the primary, or a redis+sentinel URL");
    }
  }

  void LookAtMemory() {
    if (Number(node_.info, "maxmemory") == 0) {
      Found("maxmemory", "no maxmemory is set: a full machine ends the server",
            "CONFIG SET maxmemory to what the machine can spare");
    }
    if (!Is(node_.info, "maxmemory_policy", "noeviction")) {
      Found("eviction",
            "maxmemory-policy is " +
                std::string(Get(node_.info, "maxmemory_policy").value_or("?")) +
                ": a full server drops keys, and a dropped key is a limit forgotten",
            "CONFIG SET maxmemory-policy noeviction");
    }
  }

  void LookAtData() {
    const bool saves = !Get(node_.config, "save").value_or("?").empty();
    if (Is(node_.info, "aof_enabled", "0") && !saves) {
      Found("persistence", "nothing is kept on disk: a restart forgets what was counted",
            "CONFIG SET appendonly yes, if a window's worth more at each restart is too much");
    }
    if (Is(node_.info, "aof_last_write_status", "err") ||
        Is(node_.info, "rdb_last_bgsave_status", "err")) {
      Found("disk", "the server could not write its data to disk; it may refuse writes (MISCONF)",
            "see its log and the disk");
    }
    if (Number(node_.info, "connected_slaves") > 0 &&
        Is(node_.config, "min-replicas-to-write", "0")) {
      Found(
          "min-replicas",
          "a primary that is cut off from its replicas goes on admitting while another is promoted",
          "CONFIG SET min-replicas-to-write 1, min-replicas-max-lag 1");
    }
  }

  void LookAtSettings() {
    if (Is(node_.config, "lazyfree-lazy-expire", "no")) {
      Found("lazyfree-lazy-expire",
            "a large log that expires is freed on the thread that serves everybody",
            "CONFIG SET lazyfree-lazy-expire yes");
    }
    if (!node_.cluster.empty() && Number(node_.cluster, "cluster_slots_ok") != redis::kSlots) {
      Found("slots",
            std::to_string(redis::kSlots - Number(node_.cluster, "cluster_slots_ok")) +
                " slots have no node that serves them",
            "redis-cli --cluster fix, or bring the nodes back");
    }
  }

  void LookAtTime() {
    if (node_.clock_offset &&
        (*node_.clock_offset > kFarClock || *node_.clock_offset < -kFarClock)) {
      Found("clock",
            "its clock differs from this machine's by " +
                std::to_string(node_.clock_offset->count() / 1000) +
                " ms; limits follow the server's, logs do not agree",
            "run NTP on both");
    }
    if (node_.round_trip > kLongTrip) {
      Found("round-trip", "a round trip takes " + std::to_string(node_.round_trip.count()) + " us",
            "bring the server nearer, or raise the store's timeout above ten round trips");
    }
  }

  void Found(std::string name, std::string text, std::string remedy) {
    findings_.push_back({std::move(name), node_.address, std::move(text), std::move(remedy)});
  }

  const NodeFacts& node_;
  std::vector<Finding>& findings_;
};

}  // namespace

std::vector<Finding> FindingsOf(const StoreFacts& facts) {
  std::vector<Finding> findings;
  if (facts.check_error) {
    findings.push_back({"check", "", "a check does not work: " + facts.check_error->message,
                        "what the message says; brim answers by its failure policy until then"});
  }
  for (const NodeFacts& node : facts.nodes) NodeDoctor(node, findings).Look();
  if (facts.check_cost > kDearCheck) {
    findings.push_back({"script-cost", "",
                        "a check takes " + std::to_string(facts.check_cost.count()) +
                            " us of the server, among other checks",
                        "see SLOWLOG and the machine's load; the server may be shared"});
  }
  return findings;
}

std::vector<std::string> BoundsOf(const StoreFacts& facts) {
  bool replicas = false;
  bool forgetful = false;
  for (const NodeFacts& node : facts.nodes) {
    replicas |= Number(node.info, "connected_slaves") > 0;
    forgetful |= Is(node.info, "aof_enabled", "0");
  }
  std::vector<std::string> bounds = {"while the store answers: none; a limit is never passed"};
  if (facts.topology != Topology::kSingle || replicas) {
    bounds.push_back(
        "at a failover: what the old primary admitted and had not replicated (the rate times the "
        "replication lag); while two primaries take writes, each admits up to the limit, unless "
        "min-replicas-to-write stops the one that is cut off");
  }
  if (forgetful) {
    bounds.push_back(
        "at a restart: up to one limit a window more, as counters since the last save are gone");
  }
  bounds.push_back(
      "while the store is away: on_failure local admits up to limit / nodes on each node beside "
      "what "
      "the store had counted, so with `nodes` set right at most two limits a window; open admits "
      "everything; closed nothing");
  return bounds;
}

}  // namespace brim::cli

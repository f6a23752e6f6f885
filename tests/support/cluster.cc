#include "support/cluster.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "redis/slot.h"

namespace brim::testing {
namespace {

std::string SlotText(std::string_view key) { return std::to_string(redis::SlotOf(key)); }

void Must(const std::string& reply, const char* what) {
  if (reply == "OK") return;
  std::fprintf(stderr, "FAILED: %s: %s\n", what, reply.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

TestCluster::TestCluster(bool with_replicas, std::vector<std::string> args) {
  const std::vector<std::string> ours = {"--cluster-enabled",
                                         "yes",
                                         "--cluster-node-timeout",
                                         "1000",
                                         "--repl-diskless-sync-delay",
                                         "0",
                                         "--cluster-replica-validity-factor",
                                         "0"};
  args.insert(args.begin(), ours.begin(), ours.end());
  const std::size_t count = with_replicas ? 2 * kPrimaries : kPrimaries;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> own = args;
    // The bus is by default at port + 10000, which a high free port does not leave room for.
    own.insert(own.end(), {"--cluster-port", std::to_string(RedisServer::FreePort())});
    nodes_.push_back(std::make_unique<RedisServer>(own));
    ids_.push_back(nodes_[i]->Command("CLUSTER", "MYID"));
    const std::string bus = own.back();
    const std::string port = std::to_string(nodes_[i]->port());
    if (i > 0) Must(nodes_[0]->Command("CLUSTER", "MEET", "127.0.0.1", port, bus), "CLUSTER MEET");
  }
  for (std::size_t i = 0; i < kPrimaries; ++i) {
    const std::string first = std::to_string(redis::kSlots * i / kPrimaries);
    const std::string last = std::to_string(redis::kSlots * (i + 1) / kPrimaries - 1);
    Must(nodes_[i]->Command("CLUSTER", "ADDSLOTSRANGE", first, last), "CLUSTER ADDSLOTSRANGE");
  }
  AwaitHealth(count);
  for (std::size_t i = kPrimaries; i < count; ++i) {
    Must(nodes_[i]->Command("CLUSTER", "REPLICATE", ids_[i - kPrimaries]), "CLUSTER REPLICATE");
    while (nodes_[i]->Info("replication", "master_link_status") != "up") {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void TestCluster::AwaitHealth(std::size_t nodes) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (auto& node : nodes_) {
    while (true) {  // stops: when the node sees all the others and every slot, or after 30 s
      const std::string info = node->Command("CLUSTER", "INFO");
      if (info.find("cluster_state:ok") != std::string::npos &&
          info.find("cluster_known_nodes:" + std::to_string(nodes)) != std::string::npos) {
        break;
      }
      if (std::chrono::steady_clock::now() > end) Must(info, "the cluster comes up within 30 s");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

std::string TestCluster::url(const std::string& user) const {
  std::string url = "redis+cluster://" + user;
  for (const auto& node : nodes_) url += "127.0.0.1:" + std::to_string(node->port()) + ",";
  url.pop_back();
  return url;
}

std::size_t TestCluster::OwnerOf(std::string_view key) { return OwnerAsSeenBy(0, key); }

std::size_t TestCluster::OwnerAsSeenBy(std::size_t node, std::string_view key) {
  std::istringstream lines(nodes_[node]->Command("CLUSTER", "NODES"));
  const int slot = redis::SlotOf(key);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, word;
    words >> id;
    for (int skipped = 1; skipped < 8; ++skipped) words >> word;  // address ... link state
    while (words >> word) {
      if (word[0] == '[') continue;
      const std::size_t dash = word.find('-');
      const int first = std::stoi(word);
      const int last = dash == word.npos ? first : std::stoi(word.substr(dash + 1));
      if (slot >= first && slot <= last) {
        return static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin());
      }
    }
  }
  return nodes_.size();
}

void TestCluster::MoveSlot(std::string_view key, std::size_t to) {
  const std::size_t owner = OwnerOf(key);
  RedisServer& from = *nodes_[owner];
  const std::string from_id = ids_[owner];
  const std::string slot = SlotText(key);
  const std::string port = std::to_string(nodes_[to]->port());
  Must(nodes_[to]->Command("CLUSTER", "SETSLOT", slot, "IMPORTING", from_id), "IMPORTING");
  Must(from.Command("CLUSTER", "SETSLOT", slot, "MIGRATING", ids_[to]), "MIGRATING");
  const std::string keys = from.Command("CLUSTER", "GETKEYSINSLOT", slot, "1000");
  if (keys.find('\n') == keys.npos) {
    if (!keys.empty())
      Must(from.Command("MIGRATE", "127.0.0.1", port, keys, "0", "5000"), "MIGRATE");
  } else {
    // All in one step, so that no check finds its keys on two nodes.
    const std::size_t end = keys.find('\n');
    Must(from.Command("MIGRATE", "127.0.0.1", port, "", "0", "5000", "KEYS", keys.substr(0, end),
                      keys.substr(end + 1)),
         "MIGRATE");
  }
  // First the one that gets it, as the documentation of Redis has it. The next move must wait until
  // all have heard of this one: otherwise they contradict each other, and drop keys.
  Must(nodes_[to]->Command("CLUSTER", "SETSLOT", slot, "NODE", ids_[to]), "SETSLOT NODE");
  Must(from.Command("CLUSTER", "SETSLOT", slot, "NODE", ids_[to]), "SETSLOT NODE");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    while (OwnerAsSeenBy(i, key) != to) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace brim::testing

// The nodes of a Redis Cluster behind one Link: a command goes to the node that owns the slot of
// its first key, each node has one pipelined Client, and what a node says about the others (MOVED,
// ASK, CLUSTER SLOTS) is followed here. A command that surely did not run where it was sent is sent
// on, at most kMaxHops times within its deadline; no other is ever repeated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "redis/client.h"

namespace brim::redis {

// Slots that one node serves. A plain value.
struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  Endpoint primary;  // an empty host: the one that was asked
};

// The reply to CLUSTER SLOTS. kSetup: it is something else, say of a server that is no cluster.
Result<std::vector<SlotRange>> ParseSlots(const Reply& reply);

class Cluster final : public Link {
 public:
  // `options.cluster` are the nodes to ask first for the others.
  Cluster(boost::asio::io_context& io, const ClientOptions& options);
  ~Cluster() override;

  void Start() override;
  void Run(std::string command, Micros timeout, Done done) override;
  void Eval(const Script& script, std::string command, Micros timeout, Done done) override;
  bool ready() const override;  // every slot has an owner, and all of these are ready
  ClientStats stats() const override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace brim::redis

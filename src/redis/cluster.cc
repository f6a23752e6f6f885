#include "redis/cluster.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "redis/connection.h"
#include "redis/slot.h"

namespace brim::redis {
namespace {

namespace asio = boost::asio;
constexpr std::uint16_t kNobody = UINT16_MAX;

std::optional<SlotRange> ParseRange(const Reply& entry) {
  if (entry.size() < 3 || entry[2].size() < 2) return std::nullopt;
  const std::int64_t first = entry[0].integer();
  const std::int64_t last = entry[1].integer();
  const std::int64_t port = entry[2][1].integer();
  const std::string_view host = entry[2][0].text();
  if (first < 0 || last < first || last >= kSlots || port < 1 || port > 65535 ||
      host.size() > limits::kMaxHostBytes) {
    return std::nullopt;
  }
  return SlotRange{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last),
                   Endpoint{.host = std::string(host == "?" ? "" : host),
                            .port = static_cast<std::uint16_t>(port)}};
}

Error Closed() { return {ErrorCode::kUnavailable, "redis cluster: closed", {}}; }

void Add(const ClientStats& more, ClientStats& sum) {
  sum.commands += more.commands;
  sum.script_loads += more.script_loads;
  sum.connects += more.connects;
  sum.timeouts += more.timeouts;
}

}  // namespace

Result<std::vector<SlotRange>> ParseSlots(const Reply& reply) {
  std::vector<SlotRange> ranges;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    auto range = ParseRange(reply[i]);
    if (!range) return Error{ErrorCode::kSetup, "CLUSTER SLOTS: this is no cluster's answer", {}};
    ranges.push_back(*std::move(range));
  }
  return ranges;
}

// Shared with what is under way in the loop. The topology is asked for when a node sends something
// away, when one is lost, and now and then: a primary that is gone tells nothing. One question is
// under way at a time, and the next one waits for a random pause, so that the clients of a cluster
// that fails over do not ask in step.
class Cluster::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& io, const ClientOptions& options)
      : io_(io),
        options_(options),
        timer_(io.get_executor()),
        random_(options.jitter_seed != 0 ? options.jitter_seed : std::random_device()()) {
    owner_.fill(kNobody);
  }

  void Start() {
    for (const Endpoint& seed : options_.cluster) IndexOf(seed);
    Ask();
  }

  void Stop() {
    stopped_ = true;
    timer_.cancel();
    std::exchange(nodes_, {}).clear();
  }
  bool stopped() const { return stopped_; }

  // REQUIRES: not stopped.
  Client& Owner(std::string_view command) {
    const std::uint16_t at = owner_[SlotOfCommand(command)];
    return *nodes_[at != kNobody ? at : AnyNode()].client;
  }

  bool ready() const {
    return std::ranges::all_of(
        owner_, [this](std::uint16_t at) { return at != kNobody && nodes_[at].client->ready(); });
  }

  ClientStats stats() const {
    ClientStats sum = retired_;
    for (const Node& node : nodes_) Add(node.client->stats(), sum);
    return sum;
  }

 private:
  struct Node {
    Endpoint endpoint;
    std::unique_ptr<Client> client;
  };

  // The node there; made and started if it is new.
  std::uint16_t IndexOf(const Endpoint& endpoint) {
    const auto known = std::ranges::find(nodes_, endpoint, &Node::endpoint);
    if (known != nodes_.end()) return static_cast<std::uint16_t>(known - nodes_.begin());
    if (nodes_.size() >= limits::kMaxNodes) return AnyNode();
    ClientOptions options = options_;
    options.endpoint = endpoint;
    options.jitter_seed = random_();
    ClientHooks hooks;
    const auto weak = weak_from_this();
    hooks.redirect = [weak, host = endpoint.host](Redirected redirected) {
      if (const auto self = weak.lock()) self->Redirect(std::move(redirected), host);
    };
    hooks.lost = [weak] {
      if (const auto self = weak.lock()) self->AskSoon();
    };
    nodes_.push_back({endpoint, std::make_unique<Client>(io_, options, std::move(hooks))});
    nodes_.back().client->Start();
    return static_cast<std::uint16_t>(nodes_.size() - 1);
  }

  // One that answers, else one that may; in turn.
  std::uint16_t AnyNode() {
    const std::size_t first = next_++;
    std::size_t best = first % nodes_.size();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t at = (first + i) % nodes_.size();
      if (nodes_[at].client->ready()) return static_cast<std::uint16_t>(at);
      if (nodes_[best].client->down()) best = at;
    }
    return static_cast<std::uint16_t>(best);
  }

  void Redirect(Redirected redirected, const std::string& answered_by) {
    Direction& direction = redirected.direction;
    if (stopped_) return redirected.done(Closed());
    if (direction.to.host.empty()) direction.to.host = answered_by;
    const std::uint16_t to = IndexOf(direction.to);
    if (!direction.ask) {
      owner_[direction.slot] = to;
      AskSoon();
    }
    nodes_[to].client->Forward(std::move(redirected));
  }

  void AskSoon() {
    if (!asking_) AskAfter(limits::kTopologyPause);
  }

  void AskAfter(Micros pause) {
    pause += Micros(std::uniform_int_distribution<Micros::rep>(0, pause.count())(random_));
    const Instant at =
        std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now()) + pause;
    if (ask_at_ && *ask_at_ <= at) return;
    ask_at_ = at;
    timer_.expires_at(at);
    timer_.async_wait([self = shared_from_this()](const auto& error) {
      if (error || self->stopped_) return;
      self->ask_at_.reset();
      self->Ask();
    });
  }

  void Ask() {
    if (asking_ || nodes_.empty()) return;
    asking_ = true;
    const Node& node = nodes_[AnyNode()];
    node.client->Run(Command(2).Arg("CLUSTER").Arg("SLOTS").Take(), limits::kConnectTimeout,
                     [self = shared_from_this(), host = node.endpoint.host](Result<Reply> reply) {
                       self->Answered(reply ? ParseSlots(*reply) : reply.error(), host);
                     });
  }

  // Within a Done: clients must not be destroyed here.
  void Answered(Result<std::vector<SlotRange>> ranges, const std::string& answered_by) {
    asking_ = false;
    if (stopped_) return;
    if (!ranges || ranges->empty()) {
      for (const Endpoint& seed : options_.cluster) IndexOf(seed);  // all others may be gone
      return AskAfter(limits::kTopologyPause);
    }
    for (SlotRange& range : *ranges) {
      if (range.primary.host.empty()) range.primary.host = answered_by;
    }
    asio::post(io_, [self = shared_from_this(), ranges = *std::move(ranges)] {
      if (!self->stopped_) self->Take(ranges);
    });
  }

  // From now on these are the nodes. Those that own nothing are let go once nothing waits for them.
  void Take(const std::vector<SlotRange>& ranges) {
    std::vector<Node> before = std::exchange(nodes_, {});
    owner_.fill(kNobody);
    for (const SlotRange& range : ranges) {
      const auto known = std::ranges::find(before, range.primary, &Node::endpoint);
      if (known != before.end() && known->client) nodes_.push_back(std::move(*known));
      const std::uint16_t index = IndexOf(range.primary);
      std::fill(owner_.begin() + range.first, owner_.begin() + range.last + 1, index);
    }
    for (Node& node : before) {
      if (!node.client) continue;
      if (node.client->idle()) {
        Add(node.client->stats(), retired_);
      } else {
        nodes_.push_back(std::move(node));
      }
    }
    AskAfter(ready() ? limits::kTopologyLook : limits::kTopologyLookWhenBroken);
  }

  asio::io_context& io_;
  const ClientOptions options_;
  std::vector<Node> nodes_;
  std::array<std::uint16_t, kSlots> owner_;  // of each slot, in nodes_
  std::size_t next_ = 0;                     // of AnyNode
  ClientStats retired_;                      // of nodes that are gone
  Timer timer_;
  std::optional<Instant> ask_at_;  // when timer_ rings
  std::mt19937_64 random_;
  bool asking_ = false;
  bool stopped_ = false;
};

Cluster::Cluster(asio::io_context& io, const ClientOptions& options)
    : impl_(std::make_shared<Impl>(io, options)) {}

Cluster::~Cluster() { impl_->Stop(); }

void Cluster::Start() { impl_->Start(); }

void Cluster::Run(std::string command, Micros timeout, Done done) {
  if (impl_->stopped()) return done(Closed());
  Client& owner = impl_->Owner(command);
  owner.Run(std::move(command), timeout, std::move(done));
}

void Cluster::Eval(const Script& script, std::string command, Micros timeout, Done done) {
  if (impl_->stopped()) return done(Closed());
  Client& owner = impl_->Owner(command);
  owner.Eval(script, std::move(command), timeout, std::move(done));
}

bool Cluster::ready() const { return impl_->ready(); }

ClientStats Cluster::stats() const { return impl_->stats(); }

std::unique_ptr<Link> MakeLink(asio::io_context& io, const ClientOptions& options) {
  if (options.cluster.empty()) return std::make_unique<Client>(io, options);
  return std::make_unique<Cluster>(io, options);
}

}  // namespace brim::redis

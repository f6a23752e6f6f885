#include "cli/doctor_facts.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <brim/limit.h>
#include <brim/store.h>
#include "redis/cluster.h"

namespace brim::cli {
namespace {

using namespace std::chrono_literals;
using redis::Reply;

constexpr Micros kPatience = 2s;
constexpr int kRoundTrips = 15;
constexpr std::size_t kChecks = 256;
constexpr std::array kSettings = {"lazyfree-lazy-expire", "min-replicas-to-write", "save"};

Micros Since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now() - start);
}

// One server, one question at a time.
class Asker {
 public:
  explicit Asker(const redis::ClientOptions& options) : client_(io_, options) { client_.Start(); }

  Result<void> Ask(std::vector<std::string_view> args,
                   const std::function<void(const Reply&)>& read) {
    redis::Command command(args.size());
    for (const std::string_view arg : args) command.Arg(arg);
    std::optional<Result<void>> answer;
    client_.Run(command.Take(), kPatience, [&](Result<Reply> reply) {
      if (reply) read(*reply);
      answer = reply ? Result<void>() : reply.error();
    });
    while (!answer) io_.run_one();
    return *answer;
  }
  const redis::Endpoint& endpoint() const { return client_.endpoint(); }

 private:
  boost::asio::io_context io_{1};
  redis::Client client_;
};

// "name:value" a line, as INFO and CLUSTER INFO have it.
std::map<std::string, std::string, std::less<>> ParseInfo(std::string_view text) {
  std::map<std::string, std::string, std::less<>> fields;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view value = line.substr(colon + 1);
    fields.emplace(line.substr(0, colon), value.substr(0, value.find('\r')));
  }
  return fields;
}

std::optional<Micros> OffsetOf(const Reply& time, std::chrono::system_clock::time_point middle) {
  if (time.size() != 2) return std::nullopt;
  const auto part = [&time](std::size_t i) {
    return std::atoll(std::string(time[i].text()).c_str());
  };
  const Micros server = std::chrono::seconds(part(0)) + Micros(part(1));
  return server - std::chrono::duration_cast<Micros>(middle.time_since_epoch());
}

// An error: not even TIME was answered, which every user of brim may ask.
Result<NodeFacts> AskNode(Asker& asker, bool of_cluster) {
  NodeFacts facts;
  std::vector<Micros> trips;
  for (int i = 0; i < kRoundTrips; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto wall = std::chrono::system_clock::now();
    auto asked = asker.Ask({"TIME"}, [&](const Reply& time) {
      trips.push_back(Since(start));
      facts.clock_offset = OffsetOf(time, wall + trips.back() / 2);
    });
    if (!asked) return asked.error();
  }
  std::ranges::nth_element(trips, trips.begin() + kRoundTrips / 2);
  facts.round_trip = trips[kRoundTrips / 2];
  // What may not be asked is left out: the errors of these are no news.
  (void)asker.Ask({"INFO"}, [&](const Reply& info) { facts.info = ParseInfo(info.text()); });
  for (const char* setting : kSettings) {
    (void)asker.Ask({"CONFIG", "GET", setting}, [&](const Reply& pair) {
      if (pair.size() == 2) facts.config.emplace(pair[0].text(), pair[1].text());
    });
  }
  if (of_cluster) {
    (void)asker.Ask({"CLUSTER", "INFO"},
                    [&](const Reply& info) { facts.cluster = ParseInfo(info.text()); });
  }
  const redis::Endpoint& at = asker.endpoint();
  facts.address = at.unix_path.empty() ? at.host + ":" + std::to_string(at.port) : at.unix_path;
  return facts;
}

Result<std::vector<NodeFacts>> AskCluster(const redis::ClientOptions& options) {
  Error why{ErrorCode::kUnavailable, "no node is given", {}};
  for (const redis::Endpoint& seed : options.cluster) {
    redis::ClientOptions to = options;
    to.endpoint = seed;
    Asker first(to);
    std::vector<redis::Endpoint> primaries;
    auto asked = first.Ask({"CLUSTER", "SLOTS"}, [&](const Reply& reply) {
      const auto ranges = redis::ParseSlots(reply);
      if (!ranges) return;
      for (redis::SlotRange range : *ranges) {
        if (range.primary.host.empty()) range.primary.host = seed.host;
        if (std::ranges::find(primaries, range.primary) == primaries.end()) {
          primaries.push_back(range.primary);
        }
      }
    });
    if (!asked) {
      why = asked.error();
      continue;
    }
    std::vector<NodeFacts> nodes;
    for (const redis::Endpoint& primary : primaries) {
      to.endpoint = primary;
      Asker asker(to);
      auto facts = AskNode(asker, true);
      if (!facts) return facts.error();
      nodes.push_back(*std::move(facts));
    }
    return nodes;
  }
  return why;
}

// What a batch of looks costs, and whether they work.
void AskChecks(std::string_view url, StoreFacts& facts) {
  auto store = OpenStore(url);
  if (!store) {
    facts.check_error = store.error();
    return;
  }
  CheckLines lines;
  for (const Limit& limit : ParseLimits("5 per minute; 100 per day").value()) {
    Key key;
    key.Append("ratelimit:{brim-doctor}:" + std::to_string(limit.window().count() / 1'000'000));
    lines.Add(key, limit, 1);
  }
  const auto ask = [&](std::size_t count) {
    const std::vector<Request> requests(count, Request{.op = Op::kPeek, .lines = lines});
    std::mutex mu;
    std::condition_variable all;
    std::size_t missing = count;
    const auto start = std::chrono::steady_clock::now();
    (*store)->RunBatch(requests, kPatience, [&](std::size_t, Result<Taken> taken) {
      const std::lock_guard lock(mu);
      if (!taken) facts.check_error = taken.error();
      if (--missing == 0) all.notify_one();
    });
    std::unique_lock lock(mu);
    all.wait(lock, [&] { return missing == 0; });
    return Since(start);
  };
  ask(1);  // connects, loads the script
  if (!facts.check_error)
    facts.check_cost = std::max(Micros(1), ask(kChecks) / Micros::rep{kChecks});
}

}  // namespace

Result<StoreFacts> AskStore(std::string_view url, const redis::ClientOptions& options) {
  StoreFacts facts;
  redis::ClientOptions untested = options;
  untested.self_test = nullptr;  // a missing right is a finding, and no reason to ask nothing
  if (!options.cluster.empty()) {
    facts.topology = Topology::kCluster;
    auto nodes = AskCluster(untested);
    if (!nodes) return nodes.error();
    facts.nodes = *std::move(nodes);
  } else {
    if (options.sentinel) facts.topology = Topology::kSentinel;
    Asker asker(untested);
    auto node = AskNode(asker, false);
    if (!node) return node.error();
    facts.nodes.push_back(*std::move(node));
  }
  AskChecks(url, facts);
  return facts;
}

}  // namespace brim::cli

// brim demo: a gateway with one built-in route, to try brim with nothing configured. With
// fixed_window it is the plain recipe to the letter: one counter a client, denied calls count, its
// own body.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <brim/limiter.h>
#include <brim/version.h>
#include "base/log.h"
#include "cli/commands.h"
#include "cli/shard_store.h"
#include "cli/signals.h"
#include "cli/subject.h"
#include "door/admin/admin.h"
#include "door/gateway/gateway.h"
#include "net/http_server.h"

namespace brim::cli {
namespace {

using namespace std::chrono_literals;

constexpr char kPath[] = "/api/search";
constexpr auto kLookAgain = 1s;  // at a lost store, when no request does

std::size_t ShardCount(const DemoArgs& args) {
  return args.shards != 0 ? args.shards : std::max(1u, std::thread::hardware_concurrency());
}

door::Route DemoRoute(Algorithm algorithm) {
  LimitSpec spec{.units = 5, .window = 1min, .algorithm = algorithm};
  door::DenyBody deny = door::DenyBody::kMessage;
  if (algorithm == Algorithm::kFixedWindow) {
    spec.count = Count::kAll;
    spec.key = KeyForm::kPlain;
    deny = door::DenyBody::kObject;
  }
  return {
      .name = "search",
      .path = kPath,
      .limits = {Limit::Create(spec).value()},
      .deny = deny,
      .respond = door::RespondTemplate::Parse(R"({"query": "${query.q}", "results": []})").value()};
}

// All that serves, in the order of ownership: later parts use earlier ones.
class Demo {
 public:
  // The store must be of these shards; both are the caller's until the Demo has stopped.
  Demo(net::Shards& shards, Store& store, const DemoArgs& args)
      : shards_(shards),
        limiter_(store, {.store_timeout = std::chrono::milliseconds(args.store_timeout_ms)}),
        counters_(shards.size()),
        gateway_({DemoRoute(args.algorithm)}, limiter_, counters_, watch_),
        admin_(limiter_, counters_, watch_),
        gateway_server_(shards, gateway_),
        admin_server_(shards, admin_) {}

  Result<void> Listen(const DemoArgs& args) {
    if (auto bound = ListenOn(args.listen, gateway_server_); !bound) return bound;
    if (args.admin_listen.empty()) return {};
    return ListenOn(args.admin_listen, admin_server_);
  }

  void Start(Store& store) {
    shards_.Start();
    if (limiter_.kill_switch()) {
      Log(LogLevel::kWarning, "kill_switch_on",
          {{"reason", "RATE_LIMIT_DISABLED"}, {"effect", "nothing is limited"}});
    }
    // With time to connect: a store that is only slow to come up is not lost.
    Limiter patient(store, {.store_timeout = 1s,
                            .on_failure = OnFailure::kClosed,
                            .kill_switch = limiter_.kill_switch()});
    watch_.Saw(patient.Check(door::StoreProbe()));
    Log(LogLevel::kInfo, "gateway_listening", {{"address", gateway_address()}});
    for (const std::string& address : admin_server_.addresses()) {
      Log(LogLevel::kInfo, "admin_listening", {{"address", address}});
    }
  }

  void Serve(Signals& signals) {
    while (true) {  // stops: at a signal
      switch (signals.Wait(kLookAgain)) {
        case Signals::Event::kEnd:
          return;
        case Signals::Event::kReload:
          Log(LogLevel::kInfo, "reload_ignored", {{"reason", "the demo has no configuration"}});
          break;
        case Signals::Event::kNone:
          if (watch_.error() != StoreError::kNone) watch_.Saw(limiter_.Check(door::StoreProbe()));
          break;
      }
    }
  }

  void Stop() {
    Log(LogLevel::kInfo, "draining");
    gateway_server_.Drain();
    admin_server_.Drain();
    shards_.Stop();
    Log(LogLevel::kInfo, "stopped");
  }

  std::string gateway_address() const { return gateway_server_.addresses().front(); }

 private:
  static Result<void> ListenOn(const std::string& text, net::HttpServer& server) {
    const auto address = net::ParseListenAddress(text);
    if (!address) return address.error();
    const Result<void> bound = server.Listen(*address);
    if (bound) return {};
    Error error = bound.error();
    error.message += "; choose another address (port 0 takes a free one)";
    return error;
  }

  net::Shards& shards_;
  Limiter limiter_;
  door::DecisionCounters counters_;
  door::StoreWatch watch_;
  door::Gateway gateway_;
  door::Admin admin_;
  net::HttpServer gateway_server_;
  net::HttpServer admin_server_;
};

// The arguments with which curl reaches the address.
std::string CurlTarget(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  const std::string path(kPath);
  if (!address.starts_with(kUnix)) return "'http://" + address + path + "?q=test'";
  return "--unix-socket " + address.substr(kUnix.size()) + " 'http://localhost" + path + "?q=test'";
}

// Where the counter of the client `me` is to be seen; nothing for a memory store.
std::string RedisHint(const DemoArgs& args) {
  if (args.store.url.starts_with("memory:")) return "";
  switch (args.algorithm) {
    case Algorithm::kFixedWindow:
      return "In the store: redis-cli GET ratelimit:me, and redis-cli TTL ratelimit:me\n";
    case Algorithm::kSlidingWindow:
      return "In the store: redis-cli ZRANGE ratelimit:me:search:60 0 -1 WITHSCORES\n";
    case Algorithm::kTokenBucket:
      return "In the store: redis-cli PTTL ratelimit:me:search:60:gcra\n";
    case Algorithm::kSlidingWindowCounter:
      return "In the store: redis-cli PTTL ratelimit:me:search:60:counter\n";
  }
  return "";
}

void PrintWhatToTry(const DemoArgs& args, const std::string& address) {
  const std::string curl = CurlTarget(address);
  std::printf(
      "brim %s demo on %s: GET %s?q=..., 5 per minute for each X-Client-Id (%s)\n\n"
      "Try:\n"
      "  curl -i -H 'X-Client-Id: me' %s\n"
      "  for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%%{http_code}\\n' -H 'X-Client-Id: me' "
      "%s; done\n\n"
      "Five answers a minute are 200, the next is 429 and says when to come back.\n%s"
      "Ctrl-C ends the demo.\n",
      BRIM_VERSION, address.c_str(), kPath, std::string(AlgorithmName(args.algorithm)).c_str(),
      curl.c_str(), curl.c_str(), RedisHint(args).c_str());
  std::fflush(stdout);
}

}  // namespace

int RunDemo(const DemoArgs& args) {
  Signals signals;
  net::Shards shards(ShardCount(args));
  auto store = OpenShardStore(args.store.url, shards);
  if (!store) return FailUsage("demo", store.error());
  WarnOfPassword(args.store);
  Demo demo(shards, **store, args);
  if (auto bound = demo.Listen(args); !bound) return FailUsage("demo", bound.error());
  demo.Start(**store);
  PrintWhatToTry(args, demo.gateway_address());
  demo.Serve(signals);
  demo.Stop();
  // Now that no loop runs: calls still under way are answered while the gateway is there to take
  // them.
  store->reset();
  return kOk;
}

}  // namespace brim::cli

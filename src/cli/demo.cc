// brim demo: a gateway with one built-in route, to try brim with nothing configured. With
// fixed_window it is the plain recipe to the letter: one counter a client, denied calls count, its
// own body.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <brim/limiter.h>
#include <brim/version.h>
#include "base/log.h"
#include "cli/commands.h"
#include "cli/serving.h"
#include "cli/shard_store.h"
#include "cli/signals.h"
#include "cli/subject.h"

namespace brim::cli {
namespace {

using namespace std::chrono_literals;

constexpr char kPath[] = "/api/search";

// GET /api/search?q=..., 5 a minute and X-Client-Id.
std::shared_ptr<const PolicySet> DemoPolicy(Algorithm algorithm) {
  PolicySet set = DefaultPolicySet();
  set.identity.subject.insert(set.identity.subject.begin(),
                              {SubjectSource::Kind::kHeader, "X-Client-Id"});
  RoutePolicy route{.name = "search", .path = kPath, .limits = {}};
  route.respond = R"({"query": "${query.q}", "results": []})";
  LimitSpec spec{.units = 5, .window = 1min, .algorithm = algorithm};
  if (algorithm == Algorithm::kFixedWindow) {
    spec.count = Count::kAll;
    spec.key = KeyForm::kPlain;
    route.deny = DenyForm::kObject;
  }
  route.limits.push_back({.limit = Limit::Create(spec).value()});
  set.routes.emplace(route.path, std::move(route));
  return std::make_shared<PolicySet>(std::move(set));
}

LoadedConfig NothingToLoad() { return RefusedConfig("brim demo", "the demo has no configuration"); }

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
  net::Shards shards(ShardCount(args.shards));
  auto store = OpenShardStore(args.store.url, shards);
  if (!store) return FailUsage("demo", store.error());
  WarnOfPassword(args.store);
  Serving serving(shards, **store,
                  {.store_timeout = std::chrono::milliseconds(args.store_timeout_ms)},
                  door::ServedPolicy::Make(DemoPolicy(args.algorithm)).value(), NothingToLoad);
  const ListenArgs listen{.api = "", .gateway = args.listen, .admin = args.admin_listen};
  if (auto bound = serving.Listen(listen); !bound) return FailUsage("demo", bound.error());
  serving.Start();
  PrintWhatToTry(args, serving.gateway_address());
  FileWatch watch;
  serving.Serve(signals, watch);
  serving.Stop({});
  // Now that no loop runs: calls still under way are answered while the doors are there to take
  // them.
  store->reset();
  return kOk;
}

}  // namespace brim::cli

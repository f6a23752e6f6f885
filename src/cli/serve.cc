// brim serve: the decision API, the gateway and the admin pages, as the configuration has them.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/config_checks.h"
#include "cli/serving.h"
#include "cli/shard_store.h"
#include "cli/subject.h"
#include "policy/config/load_config.h"
#include "policy/policy_set.h"

namespace brim::cli {
namespace {

// Null if the file has a mistake; each is on stderr then.
std::shared_ptr<const PolicySet> LoadPolicy(const std::string& file) {
  if (file.empty()) return std::make_shared<PolicySet>(DefaultPolicySet());
  const LoadedConfig loaded = LoadConfigFile(file, MakeConfigChecks());
  std::fputs(loaded.Format().c_str(), stderr);
  return loaded.policy;
}

// The command line has the last word.
std::shared_ptr<const PolicySet> Overridden(const PolicySet& configured, const ServeArgs& args) {
  PolicySet set = configured;
  if (!args.listen.empty()) set.listen = args.listen;
  if (!args.gateway_listen.empty()) set.gateway_listen = args.gateway_listen;
  if (!args.admin_listen.empty()) set.admin_listen = args.admin_listen;
  if (!args.store.url.empty()) set.store.url = args.store.url;
  if (set.store.url.empty()) set.store.url = "memory://";
  return std::make_shared<PolicySet>(std::move(set));
}

LimiterOptions OptionsOf(const StorePolicy& store) {
  return {.key_prefix = store.key_prefix,
          .hash_tag = store.hash_tag,
          .store_timeout = store.timeout,
          .on_failure = store.on_failure,
          .nodes = store.nodes};
}

}  // namespace

int RunServe(const ServeArgs& args) {
  Signals signals;
  const auto configured = LoadPolicy(args.config);
  if (configured == nullptr) return kBadUsage;
  const auto policy = Overridden(*configured, args);
  auto served = door::ServedPolicy::Make(policy);
  if (!served) return FailUsage("serve", served.error());
  net::Shards shards(ShardCount(args.shards));
  auto store = OpenShardStore(policy->store.url, shards);
  if (!store) return FailUsage("serve", store.error());
  WarnOfPassword(args.store);
  Serving serving(shards, **store, OptionsOf(policy->store), *std::move(served));
  const ListenArgs listen{
      .api = policy->listen, .gateway = policy->gateway_listen, .admin = policy->admin_listen};
  if (auto bound = serving.Listen(listen); !bound) return FailUsage("serve", bound.error());
  serving.Start();
  serving.Serve(signals,
                [] { Log(LogLevel::kInfo, "reload_ignored", {{"reason", "not supported"}}); });
  serving.Stop();
  // Now that no loop runs: calls still under way are answered while the doors are there to take
  // them.
  store->reset();
  return kOk;
}

}  // namespace brim::cli

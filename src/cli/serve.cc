// brim serve: the decision API, the gateway and the admin pages, as the configuration has them.
#include <cstdio>
#include <fstream>
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

// The command line has the last word.
PolicySet Overridden(PolicySet set, const ServeArgs& args) {
  if (!args.listen.empty()) set.listen = args.listen;
  if (!args.gateway_listen.empty()) set.gateway_listen = args.gateway_listen;
  if (!args.admin_listen.empty()) set.admin_listen = args.admin_listen;
  if (!args.store.url.empty()) set.store.url = args.store.url;
  if (set.store.url.empty()) set.store.url = "memory://";
  return set;
}

LoadedConfig Load(const ServeArgs& args) {
  LoadedConfig loaded = args.config.empty() ? LoadConfig({}, "the defaults")
                                            : LoadConfigFile(args.config, MakeConfigChecks());
  if (loaded.ok()) {
    loaded.policy = std::make_shared<PolicySet>(Overridden(*loaded.policy, args));
  }
  return loaded;
}

LoadedConfig LoadAgain(const ServeArgs& args) {
  LoadedConfig loaded = Load(args);
  // An empty file is a good one, but not one that has become empty: it is being written.
  if (args.config.empty()) return RefusedConfig("brim serve", "there is no configuration file");
  if (loaded.ok() && loaded.text.empty()) return RefusedConfig(args.config, "the file is empty");
  return loaded;
}

LimiterOptions OptionsOf(const StorePolicy& store) {
  return {.key_prefix = store.key_prefix,
          .hash_tag = store.hash_tag,
          .store_timeout = store.timeout,
          .on_failure = store.on_failure,
          .nodes = store.nodes};
}

// The first line of the file that holds the store's password; empty if none is configured.
Result<std::string> ReadPassword(const StorePolicy& store) {
  std::string password;
  if (store.password_file.empty()) return password;
  std::ifstream file(store.password_file);
  std::getline(file, password);
  if (password.ends_with('\r')) password.pop_back();
  if (!password.empty()) return password;
  return Error{ErrorCode::kInvalid,
               store.password_file +
                   " cannot be read, or its first line is empty: write the "
                   "store's password there",
               "store.password_file"};
}

}  // namespace

int RunServe(const ServeArgs& args) {
  Signals signals;
  FileWatch watch;
  if (!args.config.empty()) watch.Follow({args.config});  // what changes from now on is seen
  const LoadedConfig loaded = Load(args);
  std::fputs(loaded.Format().c_str(), stderr);
  if (!loaded.ok()) return kBadUsage;
  const std::shared_ptr<const PolicySet> policy = loaded.policy;
  if (policy->log_json) SetLogFormat(LogFormat::kJson);
  auto served = door::ServedPolicy::Make(policy);
  if (!served) return FailUsage("serve", served.error());
  net::Shards shards(ShardCount(args.shards));
  const auto password = ReadPassword(policy->store);
  if (!password) return FailUsage("serve", password.error());
  auto store = OpenShardStore(policy->store.url, shards,
                              {.max_memory = policy->store.max_memory, .password = *password});
  if (!store) return FailUsage("serve", store.error());
  WarnOfPassword(args.store);
  Serving serving(shards, **store, OptionsOf(policy->store), *std::move(served),
                  [&args] { return LoadAgain(args); });
  const ListenArgs listen{
      .api = policy->listen, .gateway = policy->gateway_listen, .admin = policy->admin_listen};
  if (auto bound = serving.Listen(listen); !bound) return FailUsage("serve", bound.error());
  serving.Start();
  serving.Serve(signals, watch);
  serving.Stop(std::chrono::duration_cast<std::chrono::milliseconds>(policy->drain_delay));
  // Now that no loop runs: calls still under way are answered while the doors are there to take
  // them.
  store->reset();
  return kOk;
}

}  // namespace brim::cli

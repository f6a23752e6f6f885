#include "cli/serving.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "policy/config/load_config.h"

namespace brim::cli {
namespace {

using namespace std::chrono_literals;

Result<void> ListenOn(const std::string& text, net::HttpServer& server) {
  if (text.empty()) return {};
  const auto address = net::ParseListenAddress(text);
  if (!address) return address.error();
  const Result<void> bound = server.Listen(*address);
  if (bound) return {};
  Error error = bound.error();
  error.message += "; choose another address (port 0 takes a free one)";
  return error;
}

void LogAddresses(std::string_view event, const net::HttpServer& server) {
  for (const std::string& address : server.addresses()) {
    Log(LogLevel::kInfo, event, {{"address", address}});
  }
}

// Those that the set was read from; none of what holds without a file.
std::vector<std::string> FilesOf(const PolicySet& set) {
  if (set.file.empty()) return {};
  if (set.identity.key_table.empty()) return {set.file};
  return {set.file, KeyTablePath(set)};
}

}  // namespace

std::size_t ShardCount(std::size_t asked) {
  return asked != 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

Serving::Serving(net::Shards& shards, Store& store, LimiterOptions options,
                 door::ServedPolicyHolder::Pointer policy, door::PolicyControl::Load load)
    : shards_(shards),
      store_(store),
      limiter_(store, std::move(options)),
      policies_(std::move(policy)),
      control_(policies_, std::move(load)),
      counters_(shards.size()),
      api_(policies_, limiter_, counters_, watch_),
      gateway_(policies_, limiter_, counters_, watch_),
      admin_(policies_, limiter_, counters_, watch_, control_),
      api_server_(shards, api_),
      gateway_server_(shards, gateway_),
      admin_server_(shards, admin_) {}

Result<void> Serving::Listen(const ListenArgs& args) {
  if (auto bound = ListenOn(args.api, api_server_); !bound) return bound;
  if (auto bound = ListenOn(args.gateway, gateway_server_); !bound) return bound;
  return ListenOn(args.admin, admin_server_);
}

void Serving::Start() {
  shards_.Start();
  if (limiter_.kill_switch()) {
    Log(LogLevel::kWarning, "kill_switch_on",
        {{"reason", "RATE_LIMIT_DISABLED"}, {"effect", "nothing is limited"}});
  }
  // With time to connect: a store that is only slow to come up is not lost.
  Limiter patient(store_, {.store_timeout = 1s,
                           .on_failure = OnFailure::kClosed,
                           .kill_switch = limiter_.kill_switch()});
  watch_.Saw(patient.Check(door::StoreProbe()));
  LogAddresses("api_listening", api_server_);
  LogAddresses("gateway_listening", gateway_server_);
  LogAddresses("admin_listening", admin_server_);
}

void Serving::LookAtLostStore() {
  if (watch_.error() != StoreError::kNone) watch_.Saw(limiter_.Check(door::StoreProbe()));
}

void Serving::Serve(Signals& signals, FileWatch& watch) {
  const int descriptors[] = {control_.fd(), watch.fd()};
  while (true) {  // stops: at a signal
    watch.Follow(FilesOf(policies_.Get()->set()));
    switch (signals.Wait(kLookAgain, descriptors)) {
      case Signals::Event::kEnd:
        return;
      case Signals::Event::kReload:
        control_.Reload();
        break;
      case Signals::Event::kReadable:
        control_.RunRequests();
        if (watch.Changed()) control_.Reload();
        break;
      case Signals::Event::kNone:
        break;
    }
    LookAtLostStore();
  }
}

void Serving::Stop(std::chrono::milliseconds delay) {
  admin_.SetDraining();
  control_.Close();
  Log(LogLevel::kInfo, "draining");
  std::this_thread::sleep_for(delay);  // balancers look at /readyz, and send requests elsewhere
  api_server_.Drain();
  gateway_server_.Drain();
  admin_server_.Drain();
  shards_.Stop();
  Log(LogLevel::kInfo, "stopped");
}

}  // namespace brim::cli

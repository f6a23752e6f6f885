#include "door/policy_control.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/limits.h"
#include "base/log.h"

namespace brim::door {
namespace {

std::int64_t UnixSeconds() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
}

PolicyChange Refusal(std::string message, std::string field = {}) {
  PolicyChange change;
  change.issues.push_back({.severity = Severity::kError,
                           .code = {},
                           .file = "brim",
                           .place = {},
                           .field = std::move(field),
                           .message = std::move(message),
                           .hint = {}});
  return change;
}

// What was opened at the start stays open: sockets, and the store with its keys.
std::vector<std::string> NeedRestart(const PolicySet& started, const PolicySet& now) {
  std::vector<std::string> names;
  const auto note = [&names](std::string_view name, const auto& before, const auto& after) {
    if (before != after) names.emplace_back(name);
  };
  note("log", started.log_json, now.log_json);
  note("drain_delay", started.drain_delay, now.drain_delay);
  note("listen", started.listen, now.listen);
  note("admin.listen", started.admin_listen, now.admin_listen);
  note("gateway.listen", started.gateway_listen, now.gateway_listen);
  const StorePolicy& before = started.store;
  const StorePolicy& after = now.store;
  note("store.url", before.url, after.url);
  note("store.timeout", before.timeout, after.timeout);
  note("store.on_failure", before.on_failure, after.on_failure);
  note("store.nodes", before.nodes, after.nodes);
  note("store.key_prefix", before.key_prefix, after.key_prefix);
  note("store.hash_tag", before.hash_tag, after.hash_tag);
  note("store.max_memory", before.max_memory, after.max_memory);
  note("store.password_file", before.password_file, after.password_file);
  return names;
}

// The tier or route of that name takes the mode; false: there is none.
bool ApplyOverride(PolicySet& set, const std::string& name, Mode mode) {
  const auto apply = [mode](auto& policy) {
    policy.mode = mode;
    ApplyMode(mode, policy.limits);
    return true;
  };
  if (const auto tier = set.tiers.find(name); tier != set.tiers.end()) return apply(tier->second);
  for (auto& [path, route] : set.routes) {
    if (route.name == name) return apply(route);
  }
  return false;
}

}  // namespace

PolicyControl::PolicyControl(ServedPolicyHolder& policies, Load load)
    : policies_(policies),
      started_(policies.Get()->set()),
      load_(std::move(load)),
      fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  BRIM_ASSERT(fd_ >= 0);
  status_.last_success = UnixSeconds();
}

PolicyControl::~PolicyControl() { close(fd_); }

void PolicyControl::RequestReload(Done done) {
  Enqueue({.reload = true, .name = {}, .done = std::move(done)});
}

void PolicyControl::RequestMode(std::string name, Mode mode, Done done) {
  Enqueue({.name = std::move(name), .mode = mode, .done = std::move(done)});
}

void PolicyControl::Enqueue(Request request) {
  {
    const std::lock_guard lock(mu_);
    if (!closed_ && waiting_.size() < limits::kMaxChangesWaiting) {
      waiting_.push_back(std::move(request));
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = write(fd_, &one, sizeof(one));
      return;
    }
  }
  request.done(Refusal("brim is busy with other changes, or about to end: try again later"));
}

std::optional<Mode> PolicyControl::ModeOf(std::string_view name) const {
  const PolicySet& set = policies_.Get()->set();
  if (const auto tier = set.tiers.find(name); tier != set.tiers.end()) return tier->second.mode;
  for (const auto& [path, route] : set.routes) {
    if (route.name == name) return route.mode;
  }
  return std::nullopt;
}

PolicyControl::Status PolicyControl::status() const {
  const std::lock_guard lock(mu_);
  return status_;
}

void PolicyControl::RunRequests() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read_bytes = read(fd_, &count, sizeof(count));
  std::vector<Request> requests;
  {
    const std::lock_guard lock(mu_);
    requests.swap(waiting_);
  }
  for (Request& request : requests) {
    request.done(request.reload ? Reload() : SetMode(request.name, request.mode));
  }
}

void PolicyControl::Close() {
  {
    const std::lock_guard lock(mu_);
    closed_ = true;
  }
  RunRequests();
}

PolicyChange PolicyControl::Reload() {
  LoadedConfig loaded = load_();
  PolicyChange change;
  if (loaded.ok()) change = Serve(*loaded.policy);
  change.issues.insert(change.issues.end(), loaded.issues.begin(), loaded.issues.end());
  Note(change);
  return change;
}

PolicyChange PolicyControl::SetMode(const std::string& name, Mode mode) {
  overrides_[name] = mode;
  PolicyChange change = Serve(policies_.Get()->set());
  if (change.ok) Log(LogLevel::kWarning, "mode_set", {{"name", name}, {"mode", ModeName(mode)}});
  return change;
}

PolicyChange PolicyControl::Serve(PolicySet set) {
  for (const auto& [name, mode] : overrides_) ApplyOverride(set, name, mode);
  auto served = ServedPolicy::Make(std::make_shared<const PolicySet>(std::move(set)));
  if (!served) return Refusal(served.error().message, served.error().field);
  PolicyChange change{.ok = true, .issues = {}, .needs_restart = {}};
  change.needs_restart = NeedRestart(started_, (*served)->set());
  policies_.Replace(*std::move(served));
  return change;
}

void PolicyControl::Note(const PolicyChange& change) {
  {
    const std::lock_guard lock(mu_);
    status_.last_ok = change.ok;
    ++(change.ok ? status_.good : status_.bad);
    if (change.ok) status_.last_success = UnixSeconds();
  }
  if (!change.ok) {
    const ConfigIssue& first = change.issues.front();
    return Log(LogLevel::kError, "reload_failed",
               {{"file", first.file},
                {"line", first.place.line},
                {"column", first.place.column},
                {"error", first.message},
                {"hint", first.hint},
                {"errors", static_cast<std::int64_t>(change.issues.size())},
                {"effect", "the old configuration holds on"}});
  }
  Log(LogLevel::kInfo, "reloaded");
  std::string settings;
  for (const std::string& name : change.needs_restart) {
    settings.append(settings.empty() ? "" : " ").append(name);
  }
  if (!settings.empty()) Log(LogLevel::kWarning, "restart_needed", {{"settings", settings}});
}

}  // namespace brim::door

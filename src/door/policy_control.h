// What may change while brim serves: the policy, by loading its file anew, and the modes of tiers
// and routes. Changes are made on the main thread, off the path of requests: each builds a whole
// new snapshot and puts it in place, or leaves the old one. Counters live in the store and go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brim/function.h>
#include "door/served_policy.h"
#include "policy/config/load_config.h"

namespace brim::door {

struct PolicyChange {
  bool ok = false;
  std::vector<ConfigIssue> issues;         // why not; of a change that was made, warnings
  std::vector<std::string> needs_restart;  // settings that hold only after a restart
};

class PolicyControl {
 public:
  // Reads the configuration anew. On the main thread.
  using Load = std::function<LoadedConfig()>;
  using Done = MoveOnlyFunction<void(const PolicyChange&)>;

  struct Status {
    bool last_ok = true;
    std::int64_t last_success = 0;  // Unix time in seconds; of the start, if there was none since
    std::uint64_t good = 0;         // reloads since the start
    std::uint64_t bad = 0;
  };

  // Borrows the holder.
  PolicyControl(ServedPolicyHolder& policies, Load load);
  ~PolicyControl();
  PolicyControl(const PolicyControl&) = delete;
  PolicyControl& operator=(const PolicyControl&) = delete;

  // Ask for a change from any thread; `done` is called once, on the main thread, or at once if brim
  // is about to end or too many wait. The mode holds until brim ends, whatever is reloaded.
  // REQUIRES: `name` is that of a tier or route.
  void RequestReload(Done done);
  void RequestMode(std::string name, Mode mode, Done done);

  // Of the tier or route; nullopt: there is none of that name. Any thread.
  std::optional<Mode> ModeOf(std::string_view name) const;
  Status status() const;  // any thread

  // The main thread: readable while requests wait; makes the changes they ask for; makes one.
  int fd() const { return fd_; }
  void RunRequests();
  PolicyChange Reload();
  // Answers what waits, and refuses whatever comes.
  void Close();

 private:
  struct Request {
    bool reload = false;
    std::string name;
    Mode mode = Mode::kEnforce;
    Done done;
  };

  void Enqueue(Request request);
  PolicyChange SetMode(const std::string& name, Mode mode);
  PolicyChange Serve(PolicySet set);
  void Note(const PolicyChange& change);

  ServedPolicyHolder& policies_;
  const PolicySet started_;  // with which listeners and store were opened
  const Load load_;
  const int fd_;                           // an eventfd
  std::map<std::string, Mode> overrides_;  // by name; the main thread's
  mutable std::mutex mu_;
  bool closed_ = false;           // GUARDED_BY(mu_)
  std::vector<Request> waiting_;  // GUARDED_BY(mu_)
  Status status_;                 // GUARDED_BY(mu_)
};

}  // namespace brim::door

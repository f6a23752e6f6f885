// A value that many threads read on every request and that is replaced as a whole now and then:
// readers see the old one or the new one, never a mixture, and never wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace brim {

// Each thread keeps a reference of its own, so that Get costs a load and a compare, and copying
// what it returns touches no counter that another thread writes. A thread that asks no more keeps
// the last set that it saw alive. (std::atomic<std::shared_ptr> of g++ 12 fails the thread
// sanitizer, and has all threads count in one place.) Thread-safe.
template <typename T>
class SnapshotHolder {
 public:
  using Pointer = std::shared_ptr<const T>;

  explicit SnapshotHolder(Pointer first) { Replace(std::move(first)); }
  SnapshotHolder(const SnapshotHolder&) = delete;
  SnapshotHolder& operator=(const SnapshotHolder&) = delete;

  // The one in force. The reference is good until the thread's next Get, of any holder of T: copy
  // it to keep the snapshot longer, across a wait for example.
  const Pointer& Get() const {
    thread_local Seen seen;
    if (seen.version != version_.load(std::memory_order_acquire)) Refresh(seen);
    return seen.snapshot;
  }

  // In force for every Get that begins after it returns. REQUIRES: not null.
  void Replace(Pointer next) {
    const std::lock_guard lock(mu_);
    current_ = std::move(next);
    version_.store(NextVersion(), std::memory_order_release);
  }

 private:
  struct Seen {
    std::uint64_t version = 0;  // of no snapshot
    Pointer snapshot;
  };

  // Versions differ between holders too, so that one Seen a thread serves all of them.
  static std::uint64_t NextVersion() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  void Refresh(Seen& seen) const {
    const std::lock_guard lock(mu_);
    // The thread's own count of references, around the shared one.
    auto own = std::make_shared<const Pointer>(current_);
    const T* const value = own->get();
    seen = {version_.load(std::memory_order_relaxed), Pointer(std::move(own), value)};
  }

  mutable std::mutex mu_;
  Pointer current_;  // GUARDED_BY(mu_)
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace brim

// The lock of one shard: 4 bytes, one atomic exchange each way when nobody else is there.
// It is held for well under a microsecond, so a waiter spins for a moment, then sleeps in the
// kernel.
#pragma once

#include <atomic>

namespace brim {

// Lockable by std::lock_guard. Neither fair nor recursive.
class ShardLock {
 public:
  void lock() {
    if (!try_lock()) LockSlowly();
  }
  bool try_lock() {
    int seen = kFree;
    // Acquire here and release below: all that a lock must order is what it guards.
    return state_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire);
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) state_.notify_one();
  }

 private:
  enum : int { kFree, kHeld, kAwaited };
  static constexpr int kSpins = 100;

  [[gnu::noinline]] void LockSlowly() {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
      Pause();
    }
    // From here on the lock is marked as awaited, also when we get it: others may sleep too.
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) state_.wait(kAwaited);
  }
  static void Pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::atomic<int> state_{kFree};
};

}  // namespace brim

// The lock of one shard: 4 bytes, one atomic exchange to take it and a plain store to give it back.
// It is held for well under a microsecond, so a waiter spins for a moment. If that was too short,
// the holder has lost its processor: then the waiter sleeps, and looks again. Nobody is woken,
// which would cost every unlock a second exchange; a waiter that sleeps too long, kNap, is as late
// as the scheduler makes any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace brim {

// Lockable by std::lock_guard. Neither fair nor recursive.
class ShardLock {
 public:
  void lock() {
    if (!try_lock()) LockSlowly();
  }
  // Acquire here and release below: all that a lock must order is what it guards.
  bool try_lock() { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpins = 100;
  static constexpr std::chrono::microseconds kNap{50};

  // Ends when the holder has let go.
  [[gnu::noinline]] void LockSlowly() {
    for (int spin = 0;; ++spin) {
      if (!held_.load(std::memory_order_relaxed) && try_lock()) return;
      if (spin < kSpins) {
        Pause();
      } else {
        std::this_thread::sleep_for(kNap);
      }
    }
  }
  static void Pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::atomic<bool> held_{false};
};

}  // namespace brim

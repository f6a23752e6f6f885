// The embedded store under several threads. What the thread sanitizer sees counts as much as the
// numbers here.
#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <brim/memory_store.h>
#include "store/memory_lock.h"
#include "store/memory_store_testing.h"

namespace brim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kThreads = 4;

void OnThreads(const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < kThreads; ++n) threads.emplace_back(work, n);
  for (std::thread& thread : threads) thread.join();
}

TEST(MemoryThreadsTest, OneKeyAdmitsExactlyItsLimit) {
  for (const Limit& limit : {Sliding(3'000, 1h), Fixed(3'000, 1h)}) {
    MemoryStore store;
    std::atomic<int> admitted{0};
    OnThreads([&](std::size_t) {
      const Line line = MakeLine("key", limit);
      Taken taken;
      for (int n = 0; n < 2'000; ++n) {
        store.TryNow({Op::kTake, {&line, 1}}, taken);
        admitted += taken.admitted ? 1 : 0;
      }
    });
    EXPECT_EQ(admitted, 3'000);
  }
}

// Lines in any order of shards, small limits, a budget that evicts unlimited keys, peeks, resets.
TEST(MemoryThreadsTest, ChecksOfSeveralLinesNeverWaitInACircle) {
  ManualStore at(std::size_t{128} << 10);
  OnThreads([&](std::size_t thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    for (int n = 0; n < 4'000; ++n) {
      CheckLines lines;
      const std::size_t first = random() % 1'000;
      for (std::size_t i = 0; i < 4; ++i) {
        lines.Add(NumberedKey("key", (first + i * (1 + random() % 2 * 1000)) % 5'000 + i * 5'000),
                  i % 2 == 0 ? Sliding(50, 1min) : Fixed(50, 1s), 1);
      }
      Taken taken;
      at.store.TryNow({n % 8 == 0 ? Op::kPeek : Op::kTake, lines}, taken);
      if (n % 16 == 0) at.Reset({&lines[0].key, 1});
      if (n % 64 == 0) at.clock.Advance(1ms);
      if (n % 512 == 0) static_cast<void>(at.store.stats());
    }
  });
  EXPECT_GT(at.store.stats().evictions, 0u);
  EXPECT_LE(at.store.stats().bytes, std::size_t{192} << 10);
}

// The day line has room for all that the second line admits, or the other way round: what is
// charged to one is charged to the other.
TEST(MemoryThreadsTest, AllLinesAreChargedOrNone) {
  ManualStore at;
  std::atomic<Units> admitted{0};
  OnThreads([&](std::size_t thread) {
    for (std::size_t n = 0; n < 2'000; ++n) {
      CheckLines lines;
      lines.Add(NumberedKey("own", thread * 10'000 + n % 100), Sliding(7, 1h), 1);
      lines.Add(MakeKey("shared"), Fixed(2'000, 24h), 1);
      Taken taken;
      at.store.TryNow({Op::kTake, lines}, taken);
      admitted += taken.admitted ? 1 : 0;
    }
  });
  EXPECT_EQ(admitted, 2'000);
  Units charged = 0;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    for (std::size_t n = 0; n < 100; ++n) {
      charged +=
          at.Peek({Line(NumberedKey("own", thread * 10'000 + n), Sliding(7, 1h), 1)}).lines[0].used;
    }
  }
  EXPECT_EQ(charged, 2'000);
}

TEST(ShardLockTest, LetsOneInAtATime) {
  ShardLock lock;
  int count = 0;
  OnThreads([&](std::size_t) {
    for (int n = 0; n < 20'000; ++n) {
      const std::lock_guard guard(lock);
      ++count;
      if (n % 1'000 == 0) std::this_thread::yield();  // let others come to wait
    }
  });
  EXPECT_EQ(count, 80'000);
}

}  // namespace
}  // namespace brim

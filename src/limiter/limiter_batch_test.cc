#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <brim/limiter.h>

namespace brim {
namespace {

// Answers the steps of a batch one after the other, on a thread that is always behind: it begins
// only when two steps wait, or the last.
class SlowBatchStore final : public Store {
 public:
  explicit SlowBatchStore(std::size_t checks) : to_come_(checks), thread_([this] { Answer(); }) {}
  ~SlowBatchStore() override { thread_.join(); }
  void Run(const Request&, Micros, Done) override {}
  void RunBatch(std::span<const Request> requests, Micros, BatchDone done) override {
    const std::lock_guard lock(mu_);
    steps_.emplace_back(requests.size(), std::move(done));
    to_come_ -= requests.size();
    waiting_ += requests.size();
    most_waiting = std::max(most_waiting, waiting_);
    asked_.notify_one();
  }
  void Reset(std::span<const Key>, Micros, ResetDone) override {}
  std::size_t most_waiting = 0;

 private:
  void Answer() {
    std::unique_lock lock(mu_);
    while (to_come_ != 0 || !steps_.empty()) {
      asked_.wait(lock, [this] { return steps_.size() > 1 || to_come_ == 0; });
      auto [size, done] = std::move(steps_.front());
      steps_.pop_front();
      waiting_ -= size;
      lock.unlock();
      for (std::size_t i = 0; i < size; ++i) done(i, Error{ErrorCode::kUnavailable, "slow", ""});
      lock.lock();
    }
  }

  std::mutex mu_;
  std::condition_variable asked_;
  std::size_t to_come_;
  std::size_t waiting_ = 0;
  std::deque<std::pair<std::size_t, BatchDone>> steps_;
  std::thread thread_;
};

TEST(LimiterBatchTest, TheLengthOfABatchMakesNoCheckLate) {
  SlowBatchStore store(10'000);
  Limiter limiter(store, {.on_failure = OnFailure::kOpen});
  const auto limits = ParseLimits("5 per minute").value();
  const std::vector<CheckRequest> requests(10'000, {.subject = "u", .limits = limits});
  std::vector<Decision> decisions(requests.size());
  limiter.CheckBatch(requests, decisions);
  EXPECT_LE(store.most_waiting, 128u);  // far fewer than a store answers within a timeout
  for (const Decision& decision : decisions) ASSERT_EQ(decision.reason, Reason::kFailOpen);
}

TEST(LimiterBatchTest, AnEmptyBatchAsksNothing) {
  SlowBatchStore store(0);
  Limiter(store).CheckBatch({}, {});
  EXPECT_EQ(store.most_waiting, 0u);
}

}  // namespace
}  // namespace brim

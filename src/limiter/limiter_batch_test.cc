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

TEST(LimiterBatchTest, WithoutBlockingEachIsAnsweredOnceAndNonsenseAtOnce) {
  std::vector<int> answers(100);
  std::mutex mu;  // guards answers
  std::condition_variable all;
  SlowBatchStore store(99);  // one request makes no sense
  const auto limits = ParseLimits("5 per minute").value();
  std::vector<CheckRequest> requests(100, {.subject = "u", .limits = limits});
  requests[70].subject = "";
  Limiter limiter(store, {.on_failure = OnFailure::kOpen});
  limiter.CheckBatchAsync(requests, [&](std::size_t i, const Decision& decision) {
    EXPECT_EQ(decision.reason, i == 70 ? Reason::kInvalidLimit : Reason::kFailOpen);
    const std::lock_guard lock(mu);
    ++answers[i];
    all.notify_one();
  });
  std::unique_lock lock(mu);
  EXPECT_EQ(answers[70], 1);
  all.wait(lock, [&] { return std::ranges::count(answers, 1) == 100; });
}

TEST(LimiterBatchTest, TheEmbeddedStoreAnswersABatchInOrderBeforeTheCallReturns) {
  MemoryStore store;
  Limiter limiter(store, {.kill_switch = false});
  const auto limits = ParseLimits("90 per minute").value();
  const std::vector<CheckRequest> requests(100, {.subject = "u", .limits = limits});
  std::vector<std::size_t> order;
  std::size_t allowed = 0;
  limiter.CheckBatchAsync(requests, [&](std::size_t i, const Decision& decision) {
    order.push_back(i);
    allowed += decision.allowed() ? 1 : 0;
  });
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(allowed, 90u);
}

TEST(LimiterBatchTest, AnEmptyBatchAsksNothing) {
  SlowBatchStore store(0);
  Limiter(store).CheckBatch({}, {});
  EXPECT_EQ(store.most_waiting, 0u);
}

}  // namespace
}  // namespace brim

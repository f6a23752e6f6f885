// How an HTTP handler asks the limiter: at once where the store answers at once, and else the
// connection waits, never the thread.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <brim/limiter.h>
#include <brim/store.h>
#include "net/http.h"

namespace brim::door {

// Where the answer and the handler that asked for it meet, whoever comes first.
struct Meeting {
  std::atomic<bool> one_is_here{false};
  net::HttpResume resume;
};

// A Meeting that no answer is outstanding for is used again: a store that answers at once costs no
// allocation. One a thread.
inline std::unique_ptr<Meeting>& SpareMeeting() {
  thread_local std::unique_ptr<Meeting> spare;
  return spare;
}

// To be called exactly once, when the response is filled; maybe on another thread.
class Arrival {
 public:
  explicit Arrival(Meeting* meeting) : meeting_(meeting) {}
  void operator()() const {
    // The second one to come frees it: the handler has left, and its connection waits.
    if (!meeting_->one_is_here.exchange(true)) return;
    const std::unique_ptr<Meeting> owned(meeting_);
    owned->resume();
  }

 private:
  Meeting* meeting_;
};

// Calls `start(arrival)`, which begins what fills the response.
template <typename Start>
net::HttpNext Await(net::HttpPause& pause, Start start) {
  std::unique_ptr<Meeting> mine = std::move(SpareMeeting());
  if (mine == nullptr) mine = std::make_unique<Meeting>();
  mine->one_is_here.store(false, std::memory_order_relaxed);  // nobody else knows it yet
  start(Arrival(mine.get()));
  if (mine->one_is_here.load()) {
    SpareMeeting() = std::move(mine);
    return net::HttpNext::kSend;
  }
  mine->resume = pause.MakeResume();
  Meeting* const meeting = mine.release();
  if (!meeting->one_is_here.exchange(true)) return net::HttpNext::kLater;
  const std::unique_ptr<Meeting> owned(meeting);  // the answer came meanwhile
  owned->resume();
  return net::HttpNext::kLater;
}

// Asks for the operation; a take that costs nothing peeks.
inline void Begin(Limiter& limiter, Op op, const CheckRequest& request, Limiter::Done done) {
  switch (op) {
    case Op::kTake:
    case Op::kPeek:
      return limiter.CheckAsync(request, std::move(done));
    case Op::kCharge:
      return limiter.ChargeAsync(request, std::move(done));
    case Op::kRefund:
      return limiter.RefundAsync(request, std::move(done));
  }
}

// Calls `answer(decision)` exactly once, maybe on another thread, which completes the response.
// What it refers to must live until then (request and response do). What it captures should fit
// into three pointers: then the callback needs no allocation either.
template <typename Answer>
net::HttpNext Ask(Limiter& limiter, Op op, const CheckRequest& request, net::HttpPause& pause,
                  Answer answer) {
  return Await(pause, [&](Arrival arrive) {
    Begin(limiter, op, request, [arrive, answer](const Decision& decision) mutable {
      answer(decision);
      arrive();
    });
  });
}

}  // namespace brim::door

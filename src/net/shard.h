// One event loop and its thread. brim runs one shard a core; what belongs to a shard is touched by
// its thread alone, and other threads reach it by Post.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/timer_wheel.h"

namespace brim::net {

class Shard {
 public:
  using Executor = boost::asio::io_context::executor_type;

  explicit Shard(int index);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // The shard that the calling thread runs; -1 on any other thread.
  static int CurrentIndex();

  int index() const { return index_; }
  boost::asio::io_context& io() { return io_; }
  TimerWheel& wheel() { return wheel_; }  // loop-bound

  // Runs `task` on the shard's thread, never before Post returns. Thread-safe. Before Start it
  // waits; after Stop it is never run, and destroyed with the shard.
  template <typename Task>
  void Post(Task&& task) {
    boost::asio::post(io_, std::forward<Task>(task));
  }

 private:
  friend class Shards;
  void Start();
  void Stop();  // and joins
  void Tick();

  const int index_;
  TimerWheel wheel_;            // before io_: what io_ destroys may still leave the wheel
  boost::asio::io_context io_;  // run by one thread
  boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                    boost::asio::wait_traits<std::chrono::steady_clock>, Executor>
      tick_;
  std::thread thread_;
};

// The shards of a process. Used by the thread that starts and stops them. Whatever posts to them,
// or resumes a request on them, must be gone before they are destroyed; between Stop and then, a
// post is harmless.
class Shards {
 public:
  explicit Shards(std::size_t count);  // REQUIRES: count >= 1
  ~Shards();                           // stops

  void Start();
  void Stop();  // joins the threads; not from a shard's own thread; may be called again
  bool running() const { return running_; }

  std::size_t size() const { return shards_.size(); }
  Shard& operator[](std::size_t index) { return *shards_[index]; }

 private:
  std::vector<std::unique_ptr<Shard>> shards_;
  bool running_ = false;
};

}  // namespace brim::net

#include "net/shard.h"

#include <string>

#include <pthread.h>

#include "base/assert.h"

namespace brim::net {
namespace {
thread_local int current_index = -1;
}  // namespace

Shard::Shard(int index)
    : index_(index), wheel_(std::chrono::steady_clock::now()), io_(1), tick_(io_) {}

Shard::~Shard() { Stop(); }

int Shard::CurrentIndex() { return current_index; }

void Shard::Start() {
  Tick();
  thread_ = std::thread([this] {
    current_index = index_;
    pthread_setname_np(pthread_self(), ("brim-shard-" + std::to_string(index_)).c_str());
    io_.run();  // until Stop: the tick keeps it busy
  });
}

void Shard::Stop() {
  if (!thread_.joinable()) return;
  BRIM_ASSERT(current_index == -1);
  io_.stop();
  thread_.join();
}

void Shard::Tick() {
  wheel_.Advance(std::chrono::steady_clock::now());
  tick_.expires_after(TimerWheel::kTick);
  tick_.async_wait([this](boost::system::error_code error) {
    if (!error) Tick();
  });
}

Shards::Shards(std::size_t count) {
  BRIM_ASSERT(count >= 1);
  for (std::size_t i = 0; i < count; ++i) {
    shards_.push_back(std::make_unique<Shard>(static_cast<int>(i)));
  }
}

Shards::~Shards() { Stop(); }

void Shards::Start() {
  if (running_) return;
  running_ = true;
  for (const auto& shard : shards_) shard->Start();
}

void Shards::Stop() {
  running_ = false;
  for (const auto& shard : shards_) shard->Stop();
}

}  // namespace brim::net

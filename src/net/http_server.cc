#include "net/http_server.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "base/assert.h"
#include "net/http_listener.h"
#include "net/http_session.h"
#include "net/listen_socket.h"

namespace brim::net {
namespace {

// Waits until `count` others are done. Shared with them, as they may be late. Thread-safe.
class Gate {
 public:
  explicit Gate(std::size_t count) : left_(count) {}

  void Done() {
    const std::lock_guard lock(mu_);
    if (--left_ == 0) all_done_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mu_);
    all_done_.wait(lock, [this] { return left_ == 0; });
  }
  void WaitFor(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mu_);
    all_done_.wait_for(lock, timeout, [this] { return left_ == 0; });
  }

 private:
  std::mutex mu_;
  std::condition_variable all_done_;
  std::size_t left_;  // GUARDED_BY(mu_)
};

}  // namespace

HttpServer::HttpServer(Shards& shards, HttpHandler& handler, HttpServerOptions options)
    : shards_(shards) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    parts_.push_back(std::make_shared<HttpShard>(shards[i], handler, options));
  }
}

HttpServer::~HttpServer() {
  StopListening();
  OnEachShard([](HttpShard& part) { part.CloseAll(); });
}

Result<void> HttpServer::Listen(const ListenAddress& address) {
  // All sockets first: when one fails, none has begun to accept.
  std::vector<std::shared_ptr<HttpListener>> opened;
  ListenAddress bound = address;
  const std::size_t count = address.is_unix() ? 1 : parts_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const PortUse use = i == 0 ? PortUse::kTake : PortUse::kJoin;
    const Result<ListenSocket> socket = OpenListenSocket(bound, use);
    if (!socket) return socket.error();
    bound = socket->address;
    opened.push_back(std::make_shared<HttpListener>(parts_[i], socket->fd, socket->family));
  }
  for (const auto& listener : opened) {
    listener->home().shard.Post([listener] { listener->Start(); });
    listeners_.push_back(listener);
  }
  addresses_.push_back(bound.ToString());
  if (bound.is_unix()) unix_paths_.push_back(bound.unix_path);
  return {};
}

void HttpServer::Drain(std::chrono::milliseconds timeout) {
  StopListening();
  if (shards_.running()) {
    const auto gate = std::make_shared<Gate>(parts_.size());
    OnEachShard([&gate](HttpShard& part) { part.BeginDrain([gate] { gate->Done(); }); });
    gate->WaitFor(timeout);
  }
  OnEachShard([](HttpShard& part) { part.CloseAll(); });
}

void HttpServer::StopListening() {
  OnEachShard([this](HttpShard& part) {
    for (const auto& listener : listeners_) {
      if (&listener->home() == &part) listener->Close();
    }
  });
  listeners_.clear();
  for (const std::string& path : std::exchange(unix_paths_, {})) unlink(path.c_str());
}

template <typename Task>
void HttpServer::OnEachShard(Task task) {
  BRIM_ASSERT(Shard::CurrentIndex() == -1);
  if (!shards_.running()) {
    for (const auto& part : parts_) task(*part);
    return;
  }
  const auto gate = std::make_shared<Gate>(parts_.size());
  for (const auto& part : parts_) {
    part->shard.Post([&task, part, gate] {
      task(*part);
      gate->Done();
    });
  }
  gate->Wait();
}

}  // namespace brim::net

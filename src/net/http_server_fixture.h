// What the tests of HttpServer share: a handler, and a server on free ports.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_server.h"
#include "net/test_client.h"

namespace brim::net {

// /echo answers what it was sent; /shard and /peer who serves and who asks; /close closes; /large
// is large; /later waits until the test says so.
class TestHandler : public HttpHandler {
 public:
  HttpNext Handle(const HttpRequest& request, HttpResponse& response, HttpPause& pause) override {
    if (request.path == "/later") return Keep(request, response, pause.MakeResume());
    response.close = request.path == "/close";
    if (request.path == "/large") response.body.assign(kLarge, 'x');
    if (request.path == "/peer") response.body = request.peer_address;
    if (request.path == "/shard") response.body = std::to_string(Shard::CurrentIndex());
    if (request.path == "/echo") {
      response.body.append(request.method).append(" ").append(request.query).append(" ");
      response.body.append(request.body);
    }
    return HttpNext::kSend;
  }

  void WaitForLater(std::size_t count) {
    std::unique_lock lock(mu_);
    ASSERT_TRUE(
        came_.wait_for(lock, std::chrono::seconds(10), [&] { return waiting_.size() >= count; }));
  }
  void AnswerLater() {
    std::vector<Waiting> waiting;
    {
      const std::lock_guard lock(mu_);
      waiting.swap(waiting_);
    }
    for (Waiting& one : waiting) {
      one.response->body = "later " + std::string(one.request->query);
      one.resume();
    }
  }

  static constexpr std::size_t kLarge = 1 << 20;

 private:
  struct Waiting {
    const HttpRequest* request;
    HttpResponse* response;
    HttpResume resume;
  };
  HttpNext Keep(const HttpRequest& request, HttpResponse& response, HttpResume resume) {
    const std::lock_guard lock(mu_);
    waiting_.push_back({&request, &response, std::move(resume)});
    came_.notify_all();
    return HttpNext::kLater;
  }

  std::mutex mu_;
  std::condition_variable came_;
  std::vector<Waiting> waiting_;  // GUARDED_BY(mu_)
};

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpServerOptions options = {}, const std::string& address = "127.0.0.1:0",
             std::size_t shards = 1) {
    shards_.emplace(shards);
    server_.emplace(*shards_, handler_, options);
    const Result<void> listens = server_->Listen(ParseListenAddress(address).value());
    ASSERT_TRUE(listens.ok()) << listens.error().message;
    address_ = server_->addresses().at(0);
    shards_->Start();
  }

  // Whatever a test has done, the server still serves.
  void TearDown() override {
    if (!server_ || drained_) return;
    TestClient client(address_);
    EXPECT_THAT(client.Ask("GET /echo?end HTTP/1.1\r\nHost: a\r\n\r\n"),
                testing::EndsWith("GET end "));
  }

  TestHandler handler_;
  std::optional<Shards> shards_;
  std::optional<HttpServer> server_;
  std::string address_;
  bool drained_ = false;
};

inline std::string Get(std::string_view target, std::string_view headers = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n";
}

}  // namespace brim::net

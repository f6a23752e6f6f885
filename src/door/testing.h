// For the tests of doors: requests without a network, and a store that answers when the test says
// so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brim/store.h>
#include "door/decision_counters.h"
#include "net/http.h"

namespace brim::door {

// Calls a handler as a server would. Not for two requests at a time.
class HandlerClient final : public net::HttpPause {
 public:
  explicit HandlerClient(net::HttpHandler& handler) : handler_(handler) {}

  struct Reply {
    int status = 0;
    std::map<std::string, std::string, std::less<>> headers;
    std::string body;
    std::string Header(std::string_view name) const {
      const auto found = headers.find(name);
      return found == headers.end() ? "" : found->second;
    }
  };

  // `target` is a path with maybe a query.
  net::HttpNext Send(std::string_view method, std::string_view target,
                     std::vector<net::HttpHeader> headers = {}, std::string_view body = {},
                     std::string_view peer_address = "192.0.2.7") {
    headers_ = std::move(headers);
    response_ = {};
    resumed_ = 0;
    const std::size_t mark = target.find('?');
    const net::HttpRequest request{
        .method = method,
        .path = target.substr(0, mark),
        .query = mark == std::string_view::npos ? "" : target.substr(mark + 1),
        .headers = headers_,
        .body = body,
        .peer_address = peer_address};
    return handler_.Handle(request, response_, *this);
  }
  Reply Get(std::string_view target, std::vector<net::HttpHeader> headers = {}) {
    Send("GET", target, std::move(headers));
    return reply();
  }

  Reply Post(std::string_view target, std::string_view body,
             std::vector<net::HttpHeader> headers = {{"Content-Type", "application/json"}}) {
    Send("POST", target, std::move(headers), body);
    return reply();
  }

  int resumed() const { return resumed_; }  // how often, since the last Send
  Reply reply() const {
    Reply reply{.status = response_.status, .headers = {}, .body = response_.body};
    std::string_view rest = response_.headers;
    while (!rest.empty()) {  // stops: each turn drops one line
      const std::size_t end = rest.find("\r\n");
      const std::size_t colon = rest.find(": ");
      reply.headers.emplace(rest.substr(0, colon), rest.substr(colon + 2, end - colon - 2));
      rest.remove_prefix(end + 2);
    }
    return reply;
  }

  net::HttpResume MakeResume() override {
    return [this] { ++resumed_; };
  }

 private:
  net::HttpHandler& handler_;
  std::vector<net::HttpHeader> headers_;
  net::HttpResponse response_;
  int resumed_ = 0;
};

// A store somewhere else: keeps each question until Answer.
class SlowStore final : public Store {
 public:
  void Run(const Request& /*request*/, Micros /*timeout*/, Done done) override {
    waiting_.push_back(std::move(done));
  }
  void Reset(std::span<const Key> /*keys*/, Micros /*timeout*/, ResetDone done) override {
    done(Error{ErrorCode::kUnavailable, "it is only a test", ""});
  }
  std::size_t waiting() const { return waiting_.size(); }
  // Answers the oldest question.
  void Answer(Result<Taken> taken) {
    Done done = std::move(waiting_.front());
    waiting_.pop_front();
    done(std::move(taken));
  }

 private:
  std::deque<Done> waiting_;
};

inline std::uint64_t CountOf(const DecisionCounters& counters, Reason reason) {
  return counters.Sum().by_reason[static_cast<std::size_t>(reason)];
}

}  // namespace brim::door

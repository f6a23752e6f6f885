// One Run: encode in the caller's thread, hop to the loop if need be, decode there. The wire format
// of arguments and reply is redis_codec's.
#include "store/redis_store.h"

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include "redis/command.h"
#include "store/redis_codec.h"

namespace brim {
namespace {

constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << 48) - 1;

// Random bytes apart from other processes', so that members never meet: 40 bits here, and 48 bits
// to start counting from. Should they meet all the same, the script notices.
std::array<char, 5> RandomCaller() {
  std::random_device random;
  std::array<char, 5> bytes;
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::uint64_t RandomNumber() {
  std::random_device random;
  return ((std::uint64_t{random()} << 32) | random()) & kNumberMask;
}

Error Closing() { return {ErrorCode::kUnavailable, "the store is being closed", ""}; }

}  // namespace

class RedisStore::OwnLoop {
 public:
  OwnLoop() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {}
  boost::asio::io_context& io() { return io_; }
  // Ends the thread; calls that are still on their way to it are taken by the caller's.
  void Finish() {
    io_.stop();
    thread_.join();
    io_.restart();
    io_.poll();
  }

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

RedisStore::RedisStore(const RedisStoreOptions& options)
    : RedisStore(std::make_unique<OwnLoop>(), nullptr, options) {}

RedisStore::RedisStore(boost::asio::io_context& io, const RedisStoreOptions& options)
    : RedisStore(nullptr, &io, options) {}

RedisStore::RedisStore(std::unique_ptr<OwnLoop> own_loop, boost::asio::io_context* io,
                       const RedisStoreOptions& options)
    : take_logs_(std::string(options.scripts.take_logs)),
      take_(std::string(options.scripts.take)),
      peek_(std::string(options.scripts.peek)),
      refund_(std::string(options.scripts.refund)),
      caller_(RandomCaller()),
      next_number_(RandomNumber()),
      own_loop_(std::move(own_loop)),
      io_(own_loop_ ? own_loop_->io() : *io),
      client_(redis::MakeLink(io_, options.client)) {
  boost::asio::dispatch(io_, [client = client_.get()] { client->Start(); });
}

RedisStore::~RedisStore() {
  if (own_loop_) own_loop_->Finish();
  closing_ = true;  // a callback of a waiting call may ask again
  client_.reset();
}

struct RedisStore::Call {
  const redis::Script* script;
  std::string command;
  ExpectedReply expected;
  std::vector<Limit> logs = {};  // of a call of take_logs.lua
};

const redis::Script& RedisStore::ScriptOf(Op op) const {
  if (op == Op::kPeek) return peek_;
  return op == Op::kRefund ? refund_ : take_;
}

void RedisStore::Run(const Request& request, Micros timeout, Done done) {
  if (closing_) return done(Closing());
  boost::asio::dispatch(io_,
                        [this, timeout, call = Encode(request), done = std::move(done)]() mutable {
                          Send(std::move(call), timeout, std::move(done));
                        });
}

// One hop to the loop for all: so they leave in one write.
void RedisStore::RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) {
  if (closing_) return Store::RunBatch(requests, timeout, std::move(done));
  std::vector<Call> calls;
  calls.reserve(requests.size());
  for (const Request& request : requests) calls.push_back(Encode(request));
  boost::asio::dispatch(io_, [this, timeout, calls = std::move(calls),
                              done = std::make_shared<BatchDone>(std::move(done))]() mutable {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      Send(std::move(calls[i]), timeout,
           [done, i](Result<Taken> taken) { (*done)(i, std::move(taken)); });
    }
  });
}

void RedisStore::Send(Call call, Micros timeout, Done done) {
  client_->Eval(*call.script, std::move(call.command), timeout,
                [expected = call.expected, logs = std::move(call.logs),
                 done = std::move(done)](Result<redis::Reply> reply) mutable {
                  done(logs.empty() ? DecodeTaken(reply, expected) : DecodeLogs(reply, logs));
                });
}

void RedisStore::Reset(std::span<const Key> keys, Micros timeout, ResetDone done) {
  if (closing_) return done(Closing());
  redis::Command command(1 + keys.size());
  command.Arg("UNLINK");
  for (const Key& key : keys) command.Arg(key.view());
  auto answer = [done = std::move(done)](Result<redis::Reply> reply) mutable {
    done(reply ? Result<std::int64_t>(reply->integer()) : reply.error());
  };
  boost::asio::dispatch(io_, [client = client_.get(), timeout, command = command.Take(),
                              answer = std::move(answer)]() mutable {
    client->Run(std::move(command), timeout, std::move(answer));
  });
}

std::uint64_t RedisStore::NextNumber(Units members) {
  return next_number_.fetch_add(static_cast<std::uint64_t>(members)) & kNumberMask;
}

RedisStore::Call RedisStore::Encode(const Request& request) {
  const std::span<const Line> lines = request.lines;
  const bool given = request.op == Op::kRefund && request.receipt != nullptr;
  const std::uint64_t number =
      request.receipt != nullptr ? request.receipt->number : NextNumber(MembersOf(lines));
  const MemberNames names{{caller_.data(), caller_.size()}, number};
  if (IsOfLogsAlone(request)) {
    Call call{&take_logs_, EncodeLogs(lines, take_logs_.sha1(), names), {}, {}};
    for (const Line& line : lines) call.logs.push_back(line.limit);
    return call;
  }
  const redis::Script& script = ScriptOf(request.op);
  return {&script,
          EncodeCall(request, script.sha1(), names),
          {lines.size(), request.wants_receipt && !given, number},
          {}};
}

}  // namespace brim

// One Run: encode in the caller's thread, hop to the loop if need be, decode there. The wire format
// of arguments and reply is described in lua/begin.lua and lua/look.lua.
#include "store/redis_store.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redis/command.h"

namespace brim {
namespace {

constexpr std::size_t kValuesPerLine = 5;  // in the reply, after the refused line; a stamp more
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

std::string_view AlgorithmOf(const Limit& limit) {
  return limit.weighted() ? "weighted_window" : AlgorithmName(limit.algorithm());
}

char Letter(Op op) {
  switch (op) {
    case Op::kTake:
      return 't';
    case Op::kPeek:
      return 'p';
    case Op::kCharge:
      return 'c';
    case Op::kRefund:
      return 'r';
  }
  return '?';
}

// How many numbers of members the script may use: lines share them, their keys are distinct.
Units MembersOf(std::span<const Line> lines) {
  Units members = 0;
  for (const Line& line : lines) {
    if (line.limit.algorithm() != Algorithm::kSlidingWindow || line.limit.weighted()) continue;
    members = std::max(members, std::min(line.cost, Limit::kMaxUnits));
  }
  return members;
}

// As look.lua reads it.
void AddLine(redis::Command& command, const Line& line) {
  const Limit& limit = line.limit;
  const char flags[] = {limit.mode() == Mode::kShadow ? 's' : 'e',
                        limit.count() == Count::kAll ? 'a' : '-',
                        limit.anchor() == Anchor::kAligned ? 'l' : '-'};
  command.Arg(AlgorithmOf(limit))
      .Arg(limit.capacity())
      .Arg(std::chrono::duration_cast<std::chrono::milliseconds>(limit.window()).count())
      .Arg(line.cost)
      .Arg(std::string_view(flags, sizeof(flags)));
  if (limit.algorithm() == Algorithm::kTokenBucket) {
    command.Arg(limit.interval()).Arg(limit.ticks_per_us());
  }
}

std::size_t ArgsOf(std::span<const Line> lines) {
  std::size_t args = 5 * lines.size();
  for (const Line& line : lines) {
    if (line.limit.algorithm() == Algorithm::kTokenBucket) args += 2;
  }
  return args;
}

Error UnexpectedReply() {
  return {
      ErrorCode::kSetup,
      "the server's reply to a check is not the one of brim's script; is it Redis 7.0 or newer, "
      "or Valkey?",
      ""};
}

LineStatus DecodeLine(const redis::Reply& reply, std::size_t at) {
  LineStatus status;
  status.fit = static_cast<Fit>(reply[at].integer());
  status.used = reply[at + 1].integer();
  status.remaining = reply[at + 2].integer();
  status.retry_after = status.fit == Fit::kNever ? kNever : Micros(reply[at + 3].integer());
  status.reset_after = Micros(reply[at + 4].integer());
  return status;
}

struct Expected {
  std::size_t lines;
  bool receipt;
  std::uint64_t number;  // that the call's members began with
};

Result<Taken> DecodeTaken(const Result<redis::Reply>& answer, const Expected& expected) {
  if (!answer) return answer.error();
  const redis::Reply& reply = *answer;
  const std::size_t stride = kValuesPerLine + (expected.receipt ? 1 : 0);
  const std::size_t looked_at = reply.size() / stride;
  if (reply.size() != 1 + looked_at * stride || looked_at > expected.lines) {
    return UnexpectedReply();
  }
  const std::int64_t refused = reply[0].integer();
  if (refused < 0 || refused > static_cast<std::int64_t>(looked_at)) return UnexpectedReply();
  Taken taken;
  taken.admitted = refused == 0;
  taken.refused_line = static_cast<std::int32_t>(refused) - 1;
  for (std::size_t at = 1; at < reply.size(); at += stride) {
    const std::int64_t fit = reply[at].integer();
    if (fit < 0 || fit > static_cast<std::int64_t>(Fit::kNever)) return UnexpectedReply();
    taken.lines.push_back(DecodeLine(reply, at));
    if (!expected.receipt || !taken.admitted) continue;
    const std::int64_t stamp = reply[at + kValuesPerLine].integer();
    taken.receipt.stamps.push_back(stamp < 0 ? Receipt::kNotCharged : stamp);
    taken.receipt.number = expected.number;
  }
  taken.lines.resize(expected.lines);  // the rest was not looked at
  return taken;
}

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
    : take_(std::string(options.scripts.take)),
      peek_(std::string(options.scripts.peek)),
      refund_(std::string(options.scripts.refund)),
      caller_(RandomCaller()),
      next_number_(RandomNumber()),
      own_loop_(std::move(own_loop)),
      io_(own_loop_ ? own_loop_->io() : *io),
      client_(std::make_unique<redis::Client>(io_, options.client)) {
  boost::asio::dispatch(io_, [client = client_.get()] { client->Start(); });
}

RedisStore::~RedisStore() {
  if (own_loop_) own_loop_->Finish();
}

struct RedisStore::Call {
  const redis::Script* script;
  std::string command;
  Expected expected;
};

const redis::Script& RedisStore::ScriptOf(Op op) const {
  if (op == Op::kPeek) return peek_;
  return op == Op::kRefund ? refund_ : take_;
}

void RedisStore::Run(const Request& request, Micros timeout, Done done) {
  boost::asio::dispatch(io_,
                        [this, timeout, call = Encode(request), done = std::move(done)]() mutable {
                          Send(std::move(call), timeout, std::move(done));
                        });
}

// One hop to the loop for all: so they leave in one write.
void RedisStore::RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) {
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
                [expected = call.expected, done = std::move(done)](
                    Result<redis::Reply> reply) mutable { done(DecodeTaken(reply, expected)); });
}

void RedisStore::Reset(std::span<const Key> keys, Micros timeout, ResetDone done) {
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

RedisStore::Call RedisStore::Encode(const Request& request) {
  const std::span<const Line> lines = request.lines;
  const redis::Script& script = ScriptOf(request.op);
  const bool given = request.op == Op::kRefund && request.receipt != nullptr;
  const bool wanted = request.op != Op::kRefund && request.wants_receipt;
  const std::uint64_t number =
      given ? request.receipt->number
            : next_number_.fetch_add(static_cast<std::uint64_t>(MembersOf(lines))) & kNumberMask;
  const char operation[] = {Letter(request.op), given || wanted ? 'r' : '-'};
  const std::size_t args = 6 + lines.size() + ArgsOf(lines) + (given ? lines.size() : 0);
  redis::Command command(args, 128 + lines.size() * (kMaxKeyBytes / 2));
  command.Arg("EVALSHA").Arg(script.sha1()).Arg(static_cast<std::int64_t>(lines.size()));
  for (const Line& line : lines) command.Arg(line.key.view());
  command.Arg(std::string_view(caller_.data(), caller_.size()))
      .Arg(static_cast<std::int64_t>(number))
      .Arg(std::string_view(operation, sizeof(operation)));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    AddLine(command, lines[i]);
    if (!given) continue;
    const std::int64_t stamp = request.receipt->stamps[i];
    if (stamp == Receipt::kNotCharged) {
      command.Arg("-");
    } else {
      command.Arg(stamp);
    }
  }
  return {&script, command.Take(), {lines.size(), wanted, number}};
}

}  // namespace brim

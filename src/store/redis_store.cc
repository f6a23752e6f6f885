// One Run: encode in the caller's thread, hop to the loop if need be, decode there. Takes that may
// share a call go by way of the TakeSender, everything else straight to the client.
#include "store/redis_store.h"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include "redis/command.h"
#include "store/redis_codec.h"
#include "store/take_sender.h"

namespace brim {
namespace {

Error Closing() { return {ErrorCode::kUnavailable, "the store is being closed", ""}; }

Instant Now() { return std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now()); }

bool GivesBack(Op op) { return op == Op::kCharge || op == Op::kRefund; }

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
      refusals_(options.refusals ? options.refusals
                                 : std::make_shared<RejectMemory>(options.max_refusal_age)),
      own_loop_(std::move(own_loop)),
      io_(own_loop_ ? own_loop_->io() : *io),
      client_(redis::MakeLink(io_, options.client)) {
  sender_ = std::make_shared<TakeSender>(
      io_, TakeSender::Parts{*client_, take_logs_, take_, numbers_, *refusals_, counts_},
      options.merges_takes);
  boost::asio::dispatch(io_, [client = client_.get()] { client->Start(); });
}

RedisStore::~RedisStore() {
  if (own_loop_) own_loop_->Finish();
  closing_ = true;  // a callback of a waiting call may ask again
  sender_->Close(Closing());
  client_.reset();
}

// A take that may share a call, or a command of its own.
struct RedisStore::Call {
  Op op;
  CheckName name;
  std::optional<MergeableTake> take;
  std::string command;
  ExpectedReply expected;
};

const redis::Script& RedisStore::ScriptOf(Op op) const {
  if (op == Op::kPeek) return peek_;
  return op == Op::kRefund ? refund_ : take_;
}

bool RedisStore::TryNow(const Request& request, Taken& taken) {
  if (request.op != Op::kTake || refusals_->empty()) return false;
  auto refusal = refusals_->Answer(refusals_->namer().NameOf(request.lines), Now());
  if (!refusal) return false;
  taken = std::move(*refusal);
  return true;
}

void RedisStore::Run(const Request& request, Micros timeout, Done done) {
  if (closing_) return done(Closing());
  if (Taken taken; TryNow(request, taken)) return done(std::move(taken));
  Call call = Encode(request);
  const bool gives_back = GivesBack(call.op);
  const CheckName name = gives_back ? call.name : CheckName{};
  boost::asio::dispatch(io_,
                        [this, timeout, call = std::move(call), done = std::move(done)]() mutable {
                          Send(std::move(call), timeout, std::move(done));
                        });
  if (gives_back) refusals_->Forget(name.keys);  // see Reset
}

// One hop to the loop for all: so they leave in one write.
void RedisStore::RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) {
  if (closing_) return Store::RunBatch(requests, timeout, std::move(done));
  const auto shared_done = std::make_shared<BatchDone>(std::move(done));
  std::vector<std::pair<std::size_t, Call>> calls;
  calls.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (Taken taken; TryNow(requests[i], taken)) {
      (*shared_done)(i, std::move(taken));
    } else {
      calls.emplace_back(i, Encode(requests[i]));
    }
  }
  std::vector<KeyHash> forgotten;
  for (const auto& [i, call] : calls) {
    if (!GivesBack(call.op)) continue;
    forgotten.insert(forgotten.end(), call.name.keys.begin(), call.name.keys.end());
  }
  boost::asio::dispatch(io_, [this, timeout, calls = std::move(calls), shared_done]() mutable {
    for (auto& [i, call] : calls) {
      Send(std::move(call), timeout,
           [shared_done, i = i](Result<Taken> taken) { (*shared_done)(i, std::move(taken)); });
    }
  });
  if (!forgotten.empty()) refusals_->Forget(forgotten);  // see Reset
}

void RedisStore::Send(Call call, Micros timeout, Done done) {
  if (call.take) {
    auto group = sender_->Find(call.name);
    if (!group) group = sender_->Make(call.name, std::move(*call.take));
    return sender_->Take(group, timeout, std::move(done));
  }
  sender_->SendBefore(call.name.keys);
  if (GivesBack(call.op)) refusals_->Forget(call.name.keys);
  counts_.AddCall(1);
  client_->Eval(ScriptOf(call.op), std::move(call.command), timeout,
                [this, op = call.op, name = call.name, expected = call.expected,
                 done = std::move(done)](Result<redis::Reply> reply) mutable {
                  if (GivesBack(op)) refusals_->Forget(name.keys);
                  done(DecodeTaken(reply, expected));
                });
}

// What gives back makes its keys forgotten three times. As soon as it is on its way to the loop,
// and not before, when an answer might still be learnt: whoever asks behind it must not be answered
// by that. When it is sent: the answers to what was sent before it are older. And when it is done:
// what left later, on another connection or while this one's script was loaded, may have run before
// it.
void RedisStore::Reset(std::span<const Key> keys, Micros timeout, ResetDone done) {
  if (closing_) return done(Closing());
  redis::Command command(1 + keys.size());
  command.Arg("UNLINK");
  std::vector<KeyHash> names;
  for (const Key& key : keys) {
    command.Arg(key.view());
    names.push_back(refusals_->namer().NameOf(key));
  }
  boost::asio::dispatch(
      io_, [this, timeout, command = command.Take(), names, done = std::move(done)]() mutable {
        sender_->SendBefore(names);
        refusals_->Forget(names);
        client_->Run(std::move(command), timeout,
                     [this, names = std::move(names),
                      done = std::move(done)](Result<redis::Reply> reply) mutable {
                       refusals_->Forget(names);
                       done(reply ? Result<std::int64_t>(reply->integer()) : reply.error());
                     });
      });
  refusals_->Forget(names);
}

RedisStore::Call RedisStore::Encode(const Request& request) {
  const std::span<const Line> lines = request.lines;
  Call call{request.op, refusals_->namer().NameOf(lines), {}, {}, {}};
  if (IsMergeable(request)) {
    call.take.emplace(lines, MergeableTake::Scripts{take_logs_.sha1(), take_.sha1()},
                      numbers_.caller());
    return call;
  }
  const bool given = request.op == Op::kRefund && request.receipt != nullptr;
  const std::uint64_t number =
      request.receipt != nullptr ? request.receipt->number : numbers_.Next(MembersOf(lines));
  call.command = EncodeCall(request, ScriptOf(request.op).sha1(), {numbers_.caller(), number});
  call.expected = {
      .lines = lines.size(), .receipt = request.wants_receipt && !given, .number = number};
  return call;
}

}  // namespace brim

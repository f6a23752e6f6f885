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

#include "redis/command.h"

namespace brim {
namespace {

constexpr std::size_t kArgsPerLine = 5;
constexpr std::size_t kValuesPerLine = 5;  // in the reply, after the refused line
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

std::string_view Flags(const Limit& limit) {
  const bool all = limit.count() == Count::kAll;
  if (limit.mode() == Mode::kShadow) return all ? "sa" : "s";
  return all ? "ea" : "e";
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

Result<Taken> DecodeTaken(const Result<redis::Reply>& answer, std::size_t lines) {
  if (!answer) return answer.error();
  const redis::Reply& reply = *answer;
  const std::size_t looked_at = reply.size() / kValuesPerLine;
  if (reply.size() != 1 + looked_at * kValuesPerLine || looked_at > lines) return UnexpectedReply();
  const std::int64_t refused = reply[0].integer();
  if (refused < 0 || refused > static_cast<std::int64_t>(looked_at)) return UnexpectedReply();
  Taken taken;
  taken.admitted = refused == 0;
  taken.refused_line = static_cast<std::int32_t>(refused) - 1;
  for (std::size_t i = 0; i < looked_at; ++i) {
    const std::int64_t fit = reply[1 + i * kValuesPerLine].integer();
    if (fit < 0 || fit > static_cast<std::int64_t>(Fit::kNever)) return UnexpectedReply();
    taken.lines.push_back(DecodeLine(reply, 1 + i * kValuesPerLine));
  }
  taken.lines.resize(lines);  // the rest was not looked at
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

void RedisStore::Run(const Request& request, Micros timeout, Done done) {
  const redis::Script& script = request.op == Op::kPeek ? peek_ : take_;
  auto answer = [lines = request.lines.size(), done = std::move(done)](
                    Result<redis::Reply> reply) mutable { done(DecodeTaken(reply, lines)); };
  boost::asio::dispatch(
      io_, [client = client_.get(), &script, timeout, command = EncodeCheck(request, script),
            answer = std::move(answer)]() mutable {
        client->Eval(script, std::move(command), timeout, std::move(answer));
      });
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

std::string RedisStore::EncodeCheck(const Request& request, const redis::Script& script) {
  std::size_t bytes = 128;
  Units members = 0;  // that the script may make for one line
  for (const Line& line : request.lines) {
    bytes += 112 + line.key.view().size();
    if (line.limit.algorithm() == Algorithm::kSlidingWindow) {
      members = std::max(members, std::min(line.cost, line.limit.units()));
    }
  }
  const std::uint64_t number = next_number_.fetch_add(members) & kNumberMask;
  const std::size_t lines = request.lines.size();
  redis::Command command(5 + lines + lines * kArgsPerLine, bytes);
  command.Arg("EVALSHA").Arg(script.sha1()).Arg(static_cast<std::int64_t>(lines));
  for (const Line& line : request.lines) command.Arg(line.key.view());
  command.Arg(std::string_view(caller_.data(), caller_.size()));
  command.Arg(static_cast<std::int64_t>(number));
  for (const Line& line : request.lines) {
    const Limit& limit = line.limit;
    command.Arg(AlgorithmName(limit.algorithm()))
        .Arg(limit.units())
        .Arg(std::chrono::duration_cast<std::chrono::milliseconds>(limit.window()).count())
        .Arg(line.cost)
        .Arg(Flags(limit));
  }
  return command.Take();
}

}  // namespace brim

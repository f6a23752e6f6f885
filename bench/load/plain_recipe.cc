#include "plain_recipe.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace brim::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kScript = R"(
local key, now, window, limit = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window * 1000)
local count = redis.call('ZCARD', key)
if count < limit then
  redis.call('ZADD', key, now, ARGV[4])
  redis.call('EXPIRE', key, window + 1)
  return {1, limit - count - 1, 0}
end
local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
return {0, 0, math.max(1, math.ceil((tonumber(oldest[2]) + window * 1000 - now) / 1000))}
)";
constexpr std::ptrdiff_t kLinesOfAnswer = 4;  // *3, and three integers

struct Window {
  const char* seconds;
  const char* limit;
};
constexpr Window kWindows[] = {{"60", "60"}, {"86400", "5000"}};

void AppendArg(std::string& out, std::string_view arg) {
  out.append("$").append(std::to_string(arg.size())).append("\r\n");
  out.append(arg).append("\r\n");
}

class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      Fail("cannot connect");
    }
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }

  void Write(std::string_view bytes) {
    while (!bytes.empty()) {  // stops: all is written, or it fails
      const ssize_t count = write(fd_, bytes.data(), bytes.size());
      if (count <= 0) Fail("cannot write");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  // Waits for something to read. How many answers are complete by it.
  std::size_t Answers() {
    const std::string_view bytes = Read();
    if (bytes.find('-') != std::string_view::npos) Fail(std::string(bytes));
    lines_ += std::count(bytes.begin(), bytes.end(), '\n');
    const std::ptrdiff_t answers = lines_ / kLinesOfAnswer;
    lines_ -= answers * kLinesOfAnswer;
    return static_cast<std::size_t>(answers);
  }

  std::string LoadScript() {
    std::string command = "*3\r\n";
    for (const std::string_view arg :
         {std::string_view("SCRIPT"), std::string_view("LOAD"), kScript}) {
      AppendArg(command, arg);
    }
    Write(command);
    constexpr std::size_t kSha1Digits = 40;
    const std::string_view reply = Read();
    if (!reply.starts_with("$40\r\n") || reply.size() < 5 + kSha1Digits) Fail("SCRIPT LOAD failed");
    return std::string(reply.substr(5, kSha1Digits));
  }

 private:
  std::string_view Read() {
    const ssize_t count = read(fd_, buffer_, sizeof buffer_);
    if (count <= 0) Fail("the server has closed the connection");
    return {buffer_, static_cast<std::size_t>(count)};
  }

  const int fd_;
  std::ptrdiff_t lines_ = 0;  // of answers that are not complete
  char buffer_[1 << 16];
};

// Writes the commands of checks of random subjects.
class Recipe {
 public:
  Recipe(std::string sha1, std::size_t keys) : sha1_(std::move(sha1)), pick_(0, keys - 1) {}

  std::size_t PickSubject() { return pick_(random_); }

  void Append(std::string& out, std::size_t subject, const Window& window) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    out.append("*8\r\n");
    AppendArg(out, "EVALSHA");
    AppendArg(out, sha1_);
    AppendArg(out, "1");
    AppendArg(out, "ratelimit:" + SubjectOf(subject) + ":" + window.seconds);
    AppendArg(out, std::to_string(now.count()));
    AppendArg(out, window.seconds);
    AppendArg(out, window.limit);
    AppendArg(out, Uuid());
  }

 private:
  std::string_view Uuid() {
    std::snprintf(uuid_, sizeof uuid_, "%08x-%04x-4%03x-a%03x-%012llx",
                  static_cast<unsigned>(random_()), static_cast<unsigned>(random_() & 0xffff),
                  static_cast<unsigned>(random_() & 0xfff),
                  static_cast<unsigned>(random_() & 0xfff),
                  static_cast<unsigned long long>(random_() & 0xffffffffffff));
    return {uuid_, sizeof uuid_ - 1};
  }

  const std::string sha1_;
  std::mt19937_64 random_{std::random_device{}()};
  std::uniform_int_distribution<std::size_t> pick_;
  char uuid_[37];
};

SteadyClock::time_point EndOf(double seconds) {
  return SteadyClock::now() +
         std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

void Fail(const std::string& what) {
  std::fprintf(stderr, "redis_load: %s\n", what.c_str());
  std::exit(1);
}

std::string SubjectOf(std::size_t number) {
  const std::string digits = std::to_string(number);
  return "user_" + std::string(15 - digits.size(), '0') + digits;
}

std::uint64_t RunPlainPipelined(int port, std::size_t keys, std::size_t depth, double seconds) {
  Connection connection(port);
  Recipe recipe(connection.LoadScript(), keys);
  std::string out;
  std::uint64_t answers = 0;
  std::uint64_t started = 0;
  const auto end = EndOf(seconds);
  while (SteadyClock::now() < end) {
    out.clear();
    for (; started < answers / 2 + depth; ++started) {
      const std::size_t subject = recipe.PickSubject();
      for (const Window& window : kWindows) recipe.Append(out, subject, window);
    }
    connection.Write(out);
    answers += connection.Answers();
  }
  return answers / 2;
}

std::uint64_t RunPlainUnpipelined(int port, std::size_t keys, std::size_t connections,
                                  double seconds) {
  struct Caller {
    explicit Caller(int port) : connection(port) {}
    Connection connection;
    std::size_t subject = 0;
    bool day = false;  // the window that is asked
  };
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<pollfd> waits;
  for (std::size_t i = 0; i < connections; ++i) {
    callers.push_back(std::make_unique<Caller>(port));
    waits.push_back({callers.back()->connection.fd(), POLLIN, 0});
  }
  Recipe recipe(callers.front()->connection.LoadScript(), keys);
  std::string out;
  std::uint64_t checks = 0;
  const auto ask = [&](Caller& caller) {
    out.clear();
    recipe.Append(out, caller.subject, kWindows[caller.day ? 1 : 0]);
    caller.connection.Write(out);
  };
  const auto begin = [&](Caller& caller) {
    caller.subject = recipe.PickSubject();
    caller.day = false;
    ask(caller);
  };
  const auto end = EndOf(seconds);
  for (const auto& caller : callers) begin(*caller);
  while (SteadyClock::now() < end) {
    if (poll(waits.data(), waits.size(), 1000) <= 0) Fail("no answer within a second");
    for (std::size_t i = 0; i < waits.size(); ++i) {
      Caller& caller = *callers[i];
      if (waits[i].revents == 0 || caller.connection.Answers() == 0) continue;
      if (caller.day) {
        ++checks;
        begin(caller);
      } else {
        caller.day = true;
        ask(caller);
      }
    }
  }
  return checks;
}

}  // namespace brim::bench

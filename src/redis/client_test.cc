// The client against real servers.
#include "redis/client.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "support/redis_server.h"

namespace brim::redis {
namespace {

using namespace std::chrono_literals;
using testing::RedisServer;
using testing::ServerKind;
using Steady = std::chrono::steady_clock;
using enum ErrorCode;

const Script kCount("return redis.call('INCR', KEYS[1])");

std::string CountCommand(std::string_view key) {
  return Command(4).Arg("EVALSHA").Arg(kCount.sha1()).Arg(1).Arg(key).Take();
}

ClientOptions To(const RedisServer& server) {
  ClientOptions options;
  options.endpoint.port = server.port();
  return options;
}

// What became of a command.
struct Ending {
  std::string text;  // of the reply
  std::optional<ErrorCode> code;
  std::string message;
  int calls = 0;
  std::chrono::nanoseconds took{0};
};

class ClientTest : public ::testing::Test {
 protected:
  // Turns the loop until the condition holds; false after 10 s.
  bool Until(const std::function<bool()>& condition) {
    const auto end = Steady::now() + 10s;
    while (!condition()) {
      if (Steady::now() > end) return false;
      io_.restart();
      io_.run_one_for(20ms);
    }
    return true;
  }
  static Client::Done Note(Ending& ending) {
    return [&ending, start = Steady::now()](Result<Reply> reply) {
      ++ending.calls;
      ending.took = Steady::now() - start;
      if (!reply) {
        ending.code = reply.error().code;
        ending.message = reply.error().message;
      } else {
        ending.text = reply->type() == ReplyType::kInteger ? std::to_string(reply->integer())
                                                           : std::string(reply->text());
      }
    };
  }
  Ending Run(Client& client, std::string command, Micros timeout = 2s) {
    Ending ending;
    client.Run(std::move(command), timeout, Note(ending));
    EXPECT_EQ(ending.calls, 0);
    EXPECT_TRUE(Until([&] { return ending.calls > 0; }));
    return ending;
  }
  Ending Ping(Client& client, Micros timeout = 2s) {
    return Run(client, Command(1).Arg("PING").Take(), timeout);
  }
  bool Recovers(Client& client) {
    const auto start = Steady::now();
    while (Ping(client, 50ms).text != "PONG") {
      if (Steady::now() - start > 2s) return false;
    }
    return true;
  }

  boost::asio::io_context io_{1};
};

TEST_F(ClientTest, PipelinesOnOneConnection) {
  constexpr int kCommands = 10'000;
  RedisServer server;
  Client client(io_, To(server));
  client.Start();
  std::vector<std::int64_t> replies;
  for (int i = 0; i < kCommands; ++i) {
    client.Run(Command(2).Arg("INCR").Arg("n").Take(), 5s,
               [&](Result<Reply> reply) { replies.push_back(reply ? reply->integer() : -1); });
  }
  EXPECT_TRUE(Until([&] { return replies.size() == kCommands; }));
  for (int i = 0; i < kCommands; ++i) ASSERT_EQ(replies[i], i + 1);
  // Ours, and the one of this test's own questions.
  EXPECT_EQ(server.Info("stats", "total_connections_received"), "2");
  EXPECT_EQ(client.stats().commands, kCommands);
  EXPECT_NE(server.Command("CLIENT", "LIST").find("name=brim"), std::string::npos);
}

TEST_F(ClientTest, WritesMoreThanTheSystemTakesAtOnce) {
  RedisServer server;
  Client client(io_, To(server));
  client.Start();
  const std::string value(500'000, 'x');
  int done = 0;
  for (int i = 0; i < 40; ++i) {
    client.Run(Command(3).Arg("APPEND").Arg("k").Arg(value).Take(), 5s,
               [&](Result<Reply> reply) { done += reply.ok(); });
  }
  EXPECT_TRUE(Until([&] { return done == 40; }));
  EXPECT_EQ(server.Command("STRLEN", "k"), "20000000");
}

TEST_F(ClientTest, ADoneMayRunTheNext) {
  RedisServer server;
  Client client(io_, To(server));
  client.Start();
  int left = 100;
  std::function<void()> next = [&] {
    client.Run(Command(1).Arg("PING").Take(), 1s, [&](Result<Reply> reply) {
      EXPECT_TRUE(reply.ok());
      if (--left > 0) next();
    });
  };
  next();
  EXPECT_TRUE(Until([&] { return left == 0; }));
}

TEST_F(ClientTest, SignsInAsAnAclUserAndSelectsTheDatabase) {
  RedisServer server;
  server.Command("ACL", "SETUSER", "limiter", "on", ">pa ss", "~*", "+set", "+select",
                 "+client|setname");
  ClientOptions options = To(server);
  options.user = "limiter";
  options.password = "pa ss";
  options.db = 3;
  Client client(io_, options);
  client.Start();
  EXPECT_EQ(Run(client, Command(3).Arg("SET").Arg("k").Arg("v").Take()).text, "OK");
  EXPECT_EQ(server.Command("EXISTS", "k"), "0");
  server.Command("SELECT", "3");
  EXPECT_EQ(server.Command("EXISTS", "k"), "1");
  EXPECT_EQ(Run(client, Command(2).Arg("GET").Arg("k").Take()).code, kSetup);  // NOPERM
}

TEST_F(ClientTest, AWrongPasswordIsASetupFaultUntilItIsPutRight) {
  RedisServer server;
  server.Command("ACL", "SETUSER", "limiter", "on", ">right", "~*", "+ping");
  ClientOptions options = To(server);
  options.user = "limiter";
  options.password = "wrong-one";
  Client client(io_, options);
  client.Start();
  const Ending first = Ping(client);
  EXPECT_EQ(first.code, kSetup);
  EXPECT_NE(first.message.find("WRONGPASS"), std::string::npos) << first.message;
  EXPECT_EQ(first.message.find("wrong-one"), std::string::npos) << first.message;
  EXPECT_EQ(Ping(client).code, kSetup);
  server.Command("ACL", "SETUSER", "limiter", ">wrong-one");
  EXPECT_TRUE(Recovers(client));
}

TEST_F(ClientTest, AMissingPasswordIsASetupFault) {
  RedisServer server({"--requirepass", "secret"});
  Client client(io_, To(server));
  client.Start();
  EXPECT_EQ(Ping(client).code, kSetup);
}

TEST_F(ClientTest, SpeaksOverAUnixSocketToo) {
  RedisServer server;
  ClientOptions options;
  options.endpoint.unix_path = server.unix_path();
  options.endpoint.port = 1;
  Client client(io_, options);
  client.Start();
  EXPECT_EQ(Ping(client).text, "PONG");

  options.endpoint.unix_path = std::string(200, 'x');
  Client nowhere(io_, options);
  nowhere.Start();
  EXPECT_EQ(Ping(nowhere).code, kUnavailable);
}

TEST_F(ClientTest, ResolvesNames) {
  RedisServer server;
  ClientOptions options = To(server);
  options.endpoint.host = "localhost";
  Client client(io_, options);
  client.Start();
  EXPECT_EQ(Ping(client).text, "PONG");
}

// P13: each counted once, and loaded once.
TEST_F(ClientTest, P13SurvivesTheLossOfItsScripts) {
  for (const ServerKind kind : {ServerKind::kRedis, ServerKind::kValkey}) {
    RedisServer server({}, kind);
    Client client(io_, To(server));
    client.Start();
    std::vector<std::int64_t> counts;
    const auto eval = [&] {
      client.Eval(kCount, CountCommand("n"), 2s,
                  [&](Result<Reply> reply) { counts.push_back(reply ? reply->integer() : -1); });
    };
    const auto sees = [&](std::size_t n) { return Until([&] { return counts.size() == n; }); };
    eval();
    ASSERT_TRUE(sees(1));
    server.Command("SCRIPT", "FLUSH");
    eval();
    ASSERT_TRUE(sees(2));
    EXPECT_EQ(client.stats().script_loads, 2u);

    // Inside a pipeline: ten before, ten after.
    for (int i = 0; i < 10; ++i) eval();
    client.Run(Command(2).Arg("SCRIPT").Arg("FLUSH").Take(), 2s, [](Result<Reply>) {});
    for (int i = 0; i < 10; ++i) eval();
    ASSERT_TRUE(sees(22));
    for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i], std::int64_t(i) + 1);
    EXPECT_EQ(client.stats().script_loads, 3u);
    EXPECT_EQ(server.Command("GET", "n"), "22");
  }
}

TEST_F(ClientTest, AStoppedServerIsUnknownInTimeAndRecovers) {
  RedisServer server;
  Client client(io_, To(server));
  client.Start();
  // The best of three: the machine may be busy with something else just then.
  auto written = std::chrono::nanoseconds::max(), waiting = written;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Recovers(client));
    server.Pause();
    const Ending first = Ping(client, 50ms);
    EXPECT_EQ(first.code, kUnknown);
    EXPECT_GE(first.took, 50ms);
    written = std::min(written, first.took);
    const Ending second = Ping(client, 50ms);
    EXPECT_EQ(second.code, kUnavailable);
    waiting = std::min(waiting, second.took);
    server.Resume();
  }
  EXPECT_LT(written, 70ms);
  EXPECT_LT(waiting, 70ms);
  EXPECT_TRUE(Recovers(client));
}

TEST_F(ClientTest, NobodyWaitsForAServerThatIsKnownToBeDown) {
  RedisServer server;
  server.Pause();
  ClientOptions options = To(server);
  options.connect_timeout = 100ms;
  Client client(io_, options);
  client.Start();
  EXPECT_EQ(Ping(client, 5s).code, kUnavailable);
  const Ending down = Ping(client, 5s);
  EXPECT_EQ(down.code, kUnavailable);
  EXPECT_LT(down.took, 1s);
  server.Resume();
  EXPECT_TRUE(Recovers(client));
}

TEST_F(ClientTest, FindsAServerThatStartsLater) {
  RedisServer server;
  server.Kill();
  Client client(io_, To(server));
  client.Start();
  const Ending absent = Ping(client);
  EXPECT_EQ(absent.code, kUnavailable);
  EXPECT_LT(absent.took, 500ms);
  EXPECT_NE(absent.message.find(std::to_string(server.port())), std::string::npos);
  EXPECT_FALSE(client.ready());
  server.Start();
  EXPECT_TRUE(Recovers(client));
  EXPECT_TRUE(client.ready());
}

TEST_F(ClientTest, FindsARestartedServerAndReloadsItsScripts) {
  RedisServer server;
  Client client(io_, To(server));
  client.Start();
  Ending ending;
  client.Eval(kCount, CountCommand("n"), 2s, Note(ending));
  ASSERT_TRUE(Until([&] { return ending.calls == 1; }));
  server.Restart();
  EXPECT_TRUE(Recovers(client));
  ending = {};
  client.Eval(kCount, CountCommand("n"), 2s, Note(ending));
  ASSERT_TRUE(Until([&] { return ending.calls == 1; }));
  EXPECT_EQ(ending.text, "1");
  EXPECT_EQ(client.stats().connects, 2u);
  EXPECT_EQ(client.stats().script_loads, 2u);
}

// Signs every client in, then answers its first bytes with `reply` and closes.
class FakeServer {
 public:
  FakeServer(boost::asio::io_context& io, std::string reply)
      : acceptor_(io, {boost::asio::ip::address_v4::loopback(), 0}),
        socket_(io),
        reply_(std::move(reply)) {
    acceptor_.async_accept(socket_, [this](auto error) {
      if (!error) Answer("+OK\r\n", [this] { Answer(reply_, [this] { socket_.close(); }); });
    });
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void Answer(const std::string& text, std::function<void()> then) {
    socket_.async_read_some(boost::asio::buffer(space_), [this, text, then](auto error, auto) {
      if (error) return;
      boost::asio::write(socket_, boost::asio::buffer(text), error);
      then();
    });
  }
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::socket socket_;
  const std::string reply_;
  char space_[4096];
};

TEST_F(ClientTest, ALostReplyIsUnknown) {
  for (const std::string reply : {"", ":", ":1\r\n$5\r\nab", ":1\r\nnonsense\r\n"}) {
    SCOPED_TRACE(reply);
    FakeServer server(io_, reply);
    ClientOptions options;
    options.endpoint.port = server.port();
    Client client(io_, options);
    client.Start();
    Ending first, second;
    client.Run(Command(1).Arg("PING").Take(), 2s, Note(first));
    client.Run(Command(1).Arg("PING").Take(), 2s, Note(second));
    ASSERT_TRUE(Until([&] { return first.calls > 0 && second.calls > 0; }));
    if (reply.size() < 2) {
      EXPECT_EQ(first.code, kUnknown);
    } else {
      EXPECT_EQ(first.text, "1");
    }
    EXPECT_EQ(second.code, kUnknown);
    EXPECT_EQ(client.stats().commands, 2u);  // nothing was sent again
  }
}

TEST_F(ClientTest, ItsEndCompletesWhatWaits) {
  RedisServer server;
  Ending written, waiting, never;
  {
    Client client(io_, To(server));
    client.Start();
    ASSERT_EQ(Ping(client).text, "PONG");
    server.Pause();
    client.Run(Command(1).Arg("PING").Take(), 2s, Note(written));
    ASSERT_TRUE(Until([&] { return client.stats().commands == 2; }));
    client.Run(Command(1).Arg("PING").Take(), 2s, Note(waiting));
    Client not_started(io_, To(server));
    not_started.Run(Command(1).Arg("PING").Take(), 2s, Note(never));
  }
  EXPECT_EQ(written.code, kUnknown);
  EXPECT_EQ(waiting.code, kUnavailable);
  EXPECT_EQ(never.code, kUnavailable);
  io_.restart();
  io_.run();  // nothing keeps the loop
  EXPECT_EQ(written.calls + waiting.calls + never.calls, 3);
}

}  // namespace
}  // namespace brim::redis

// How a server begins and ends: drain, shutdown, unix sockets.
#include <fstream>
#include <thread>

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_server_fixture.h"

namespace brim::net {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpServerDrainTest : public HttpServerTest {
 protected:
  void SetUp() override { drained_ = true; }
};

TEST_F(HttpServerDrainTest, LetsRequestsUnderWayFinish) {
  Start();  // one shard: when one session knows of the drain, all do
  TestClient idle(address_), waits(address_), half(address_);
  EXPECT_THAT(idle.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(half.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
  half.Send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(half.ReadResponse(), "HTTP/1.1 100 Continue\r\n\r\n");  // so it is under way
  waits.Send(Get("/later"));
  handler_.WaitForLater(1);

  std::thread drain([this] { server_->Drain(); });
  EXPECT_EQ(idle.ReadToEnd(), "");
  EXPECT_FALSE(TestClient(address_).connected());
  half.Send("abc");
  EXPECT_THAT(half.ReadToEnd(), AllOf(HasSubstr("Connection: close"), EndsWith("POST  abc")));
  handler_.AnswerLater();
  EXPECT_THAT(waits.ReadToEnd(), AllOf(HasSubstr("Connection: close"), EndsWith("later ")));
  drain.join();
}

TEST_F(HttpServerDrainTest, ServesWhatHasComeAlready) {
  shards_.emplace(1);
  server_.emplace(*shards_, handler_);
  ASSERT_TRUE(server_->Listen(ParseListenAddress("127.0.0.1:0").value()).ok());
  TestClient client(server_->addresses().at(0));
  client.Send(Get("/echo?early"));  // it waits to be accepted: no shard runs yet
  shards_->Start();
  server_->Drain();
  EXPECT_THAT(client.ReadToEnd(), EndsWith("GET early "));
}

TEST_F(HttpServerDrainTest, CutsWhatTakesTooLong) {
  Start();
  TestClient client(address_);
  client.Send(Get("/later"));
  handler_.WaitForLater(1);
  server_->Drain(milliseconds(50));
  EXPECT_EQ(client.ReadToEnd(), "");
  server_.reset();
  handler_.AnswerLater();  // harmless
}

TEST_F(HttpServerDrainTest, AServerMayEndWithConnectionsOpen) {
  Start({}, "127.0.0.1:0", 2);
  TestClient idle(address_), waits(address_), half(address_);
  EXPECT_THAT(idle.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
  half.Send("GET /");
  waits.Send(Get("/later"));
  handler_.WaitForLater(1);
  server_.reset();
  EXPECT_EQ(idle.ReadToEnd(), "");
  EXPECT_EQ(waits.ReadToEnd(), "");
  handler_.AnswerLater();
}

TEST_F(HttpServerDrainTest, TheShardsMayStopFirst) {
  Start({}, "127.0.0.1:0", 2);
  TestClient idle(address_), waits(address_);
  EXPECT_THAT(idle.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
  waits.Send(Get("/later"));
  handler_.WaitForLater(1);
  shards_->Stop();
  server_.reset();
  handler_.AnswerLater();
  shards_.reset();
  EXPECT_EQ(waits.ReadToEnd(), "");
}

class HttpServerUnixTest : public HttpServerTest {
 protected:
  void SetUp() override {
    char name[] = "/tmp/brim-net-XXXXXX";
    directory_ = mkdtemp(name);
    path_ = directory_ + "/s";
  }
  void TearDown() override {
    HttpServerTest::TearDown();
    server_.reset();
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }
  bool Exists() const {
    struct stat file{};
    return lstat(path_.c_str(), &file) == 0;
  }

  std::string directory_, path_;
};

TEST_F(HttpServerUnixTest, ServesAndRemovesItsFile) {
  Start({}, "unix:" + path_, 2);
  EXPECT_EQ(address_, "unix:" + path_);
  {
    TestClient client(address_);
    EXPECT_THAT(client.Ask(Get("/peer")), EndsWith("\r\n\r\nunix"));
  }
  server_->Drain();
  drained_ = true;
  EXPECT_FALSE(Exists());
}

TEST_F(HttpServerUnixTest, TakesOverAFileThatNobodyListensOn) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path_.copy(name.sun_path, sizeof(name.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  close(fd);
  ASSERT_TRUE(Exists());
  Start({}, "unix:" + path_);
}

TEST_F(HttpServerUnixTest, RefusesAFileThatIsInUse) {
  Start({}, "unix:" + path_);
  HttpServer second(*shards_, handler_);
  const Result<void> listens = second.Listen(ParseListenAddress("unix:" + path_).value());
  ASSERT_FALSE(listens.ok());
  EXPECT_THAT(listens.error().message, HasSubstr("another process listens there"));
}

TEST_F(HttpServerUnixTest, RefusesAFileThatIsNoSocket) {
  std::ofstream(path_) << "precious";
  Shards shards(1);
  HttpServer server(shards, handler_);
  const Result<void> listens = server.Listen(ParseListenAddress("unix:" + path_).value());
  ASSERT_FALSE(listens.ok());
  EXPECT_THAT(listens.error().message, HasSubstr("no socket"));
  EXPECT_TRUE(Exists());
}

}  // namespace
}  // namespace brim::net

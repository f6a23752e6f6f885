// The Redis store over TLS: what is verified, and what is said when it does not hold.
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <brim/limiter.h>
#include "redis/client.h"
#include "store/store_url.h"
#include "support/fault_proxy.h"
#include "support/redis_server.h"
#include "support/tls_files.h"

namespace brim::testing {
namespace {

using namespace std::chrono_literals;

const LimiterOptions kPatient{.store_timeout = 5s, .on_failure = OnFailure::kClosed};

const TlsFiles& Files() {
  static const TlsFiles files;
  return files;
}

// A server that speaks TLS on `port()`, and in the clear on a port of its own.
class TlsServer {
 public:
  explicit TlsServer(const std::string& certificate = "server", const std::string& clients = "no")
      : port_(RedisServer::FreePort()),
        server_({"--tls-port", std::to_string(port_), "--tls-cert-file",
                 Files().Path(certificate + ".pem"), "--tls-key-file",
                 Files().Path(certificate + ".key"), "--tls-ca-cert-file", Files().Path("ca.pem"),
                 "--tls-auth-clients", clients}) {}
  std::uint16_t port() const { return port_; }
  RedisServer& clear() { return server_; }
  std::string Url(const std::string& host, const std::string& more = "") const {
    return "rediss://" + host + ":" + std::to_string(port_) + "?cafile=" + Files().Path("ca.pem") +
           more;
  }

 private:
  const std::uint16_t port_;
  RedisServer server_;
};

// Why a client of this URL is not let in; nothing if it is.
std::optional<Error> WhyNot(const std::string& url) {
  boost::asio::io_context io;
  redis::Client client(io, std::get<redis::ClientOptions>(ParseStoreUrl(url).value()));
  client.Start();
  std::optional<Error> why;
  bool done = false;
  client.Run(redis::Command(1).Arg("PING").Take(), 5s, [&](Result<redis::Reply> reply) {
    done = true;
    if (!reply) why = reply.error();
  });
  while (!done) io.run_one();
  return why;
}

TEST(RedisTlsTest, ChecksRunOverIt) {
  TlsServer server;
  for (const std::string host : {"localhost", "127.0.0.1"}) {
    const auto store = OpenStore(server.Url(host)).value();
    Limiter limiter(*store, kPatient);
    EXPECT_EQ(limiter.Check(host, 5, 60s).remaining, 4);
    EXPECT_EQ(limiter.Check(host, 5, 60s).remaining, 3);
  }
  EXPECT_EQ(server.clear().Command("DBSIZE"), "2");
}

TEST(RedisTlsTest, AnUnknownAuthorityIsASetupFault) {
  TlsServer server;
  for (const std::string& ca : {Files().Path("other.pem"), std::string()}) {
    const std::string query = ca.empty() ? "" : "?cafile=" + ca;
    const auto why = WhyNot("rediss://localhost:" + std::to_string(server.port()) + query);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code, ErrorCode::kSetup);
    EXPECT_NE(why->message.find("certificate"), std::string::npos) << why->message;
    EXPECT_NE(why->message.find("cafile"), std::string::npos) << why->message;
  }
}

TEST(RedisTlsTest, TheCertificateMustNameTheServer) {
  TlsServer server("named");
  const auto why = WhyNot(server.Url("localhost"));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, ErrorCode::kSetup);
  EXPECT_NE(why->message.find("names localhost"), std::string::npos) << why->message;
  EXPECT_TRUE(WhyNot(server.Url("127.0.0.1")));
  EXPECT_FALSE(WhyNot(server.Url("127.0.0.1", "&server_name=redis.test")));
}

TEST(RedisTlsTest, AServerMayWantACertificateOfTheClient) {
  TlsServer server("server", "yes");
  EXPECT_TRUE(WhyNot(server.Url("localhost")));
  const std::string client =
      "&cert=" + Files().Path("client.pem") + "&key=" + Files().Path("client.key");
  EXPECT_FALSE(WhyNot(server.Url("localhost", client)));
}

TEST(RedisTlsTest, OneSideInTheClearIsToldInTime) {
  TlsServer server;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(WhyNot("redis://127.0.0.1:" + std::to_string(server.port())));
  EXPECT_TRUE(WhyNot("rediss://127.0.0.1:" + std::to_string(server.clear().port())));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
}

TEST(RedisTlsTest, FilesThatCannotBeReadAreTheUrlsFault) {
  for (const std::string& query :
       {std::string("cafile=/nowhere.pem"), std::string("cert=/nowhere.pem"),
        "cert=" + Files().Path("client.pem") + "&key=/nowhere.key"}) {
    const auto store = OpenStore("rediss://localhost?" + query);
    ASSERT_FALSE(store) << query;
    EXPECT_EQ(store.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(store.error().field, "store");
    EXPECT_NE(store.error().message.find("nowhere"), std::string::npos) << store.error().message;
  }
}

TEST(RedisTlsTest, ManyLargeCommandsAndALostConnection) {
  TlsServer server;
  FaultProxy proxy(server.port());
  const std::string url =
      "rediss://localhost:" + std::to_string(proxy.port()) + "?cafile=" + Files().Path("ca.pem");
  boost::asio::io_context io;
  redis::Client client(io, std::get<redis::ClientOptions>(ParseStoreUrl(url).value()));
  client.Start();
  const std::string value(300'000, 'x');
  for (int round = 0; round < 2; ++round) {
    int waiting = 20;
    int good = 0;
    for (int i = 0; i < 20; ++i) {
      client.Run(redis::Command(3).Arg("APPEND").Arg("k").Arg(value).Take(), 5s,
                 [&](Result<redis::Reply> reply) {
                   good += reply.ok();
                   --waiting;
                 });
    }
    while (waiting > 0) io.run_one();
    EXPECT_EQ(good, 20);
    proxy.Reset();
    while (client.ready()) io.run_one();
  }
  EXPECT_EQ(server.clear().Command("STRLEN", "k"), "12000000");
}

TEST(RedisTlsTest, SentinelsMaySpeakItOrNot) {
  TlsServer server;
  const std::string config = Files().Path("sentinel.conf");
  std::ofstream(config) << "sentinel monitor m 127.0.0.1 " << server.port() << " 1\n";
  const std::uint16_t tls_port = RedisServer::FreePort();
  RedisServer sentinel({config, "--sentinel", "--tls-port", std::to_string(tls_port),
                        "--tls-cert-file", Files().Path("server.pem"), "--tls-key-file",
                        Files().Path("server.key"), "--tls-ca-cert-file", Files().Path("ca.pem"),
                        "--tls-auth-clients", "no"});
  const auto url = [](std::uint16_t port, const std::string& more) {
    return "rediss+sentinel://127.0.0.1:" + std::to_string(port) +
           "/m?cafile=" + Files().Path("ca.pem") + more;
  };
  EXPECT_FALSE(WhyNot(url(tls_port, "")));
  EXPECT_FALSE(WhyNot(url(sentinel.port(), "&sentinel_tls=no")));
  EXPECT_TRUE(WhyNot(url(sentinel.port(), "")));
  EXPECT_TRUE(WhyNot(url(tls_port, "&sentinel_tls=no")));
}

}  // namespace
}  // namespace brim::testing

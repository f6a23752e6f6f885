#include "net/http_server.h"

#include <ctime>
#include <memory>
#include <set>
#include <thread>

#include <sys/resource.h>

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

TEST_F(HttpServerTest, AnswersOneRequestAfterTheOther) {
  Start();
  TestClient client(address_);
  for (int i = 0; i < 3; ++i) {
    const std::string response = client.Ask(Get("/echo?" + std::to_string(i)));
    EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\nDate: "));
    EXPECT_THAT(response, Not(HasSubstr("Connection:")));
    EXPECT_THAT(response, EndsWith("\r\nContent-Length: 6\r\n\r\nGET " + std::to_string(i) + " "));
  }
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  Start();
  TestClient client(address_);
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += Get("/echo?" + std::to_string(i));
  client.Send(requests);
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(client.ReadResponse(), EndsWith("GET " + std::to_string(i) + " "));
  }
}

TEST_F(HttpServerTest, ServesARequestThatComesByteByByte) {
  Start();
  TestClient client(address_);
  for (const char byte : Get("/echo?slow", "Connection: close\r\n")) client.Send({&byte, 1});
  EXPECT_THAT(client.ReadToEnd(), AllOf(HasSubstr("Connection: close"), EndsWith("GET slow ")));
}

TEST_F(HttpServerTest, TakesBodies) {
  Start();
  TestClient client(address_);
  const std::string large(1 << 20, 'y');
  EXPECT_THAT(
      client.Ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" + large),
      EndsWith("POST  " + large));
  EXPECT_THAT(client.Ask("PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: r\r\n\r\n"),
              EndsWith("PUT  abcde"));
}

TEST_F(HttpServerTest, SaysContinueToThoseWhoWaitForIt) {
  Start();
  TestClient client(address_);
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  EXPECT_EQ(client.Ask(head), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(client.Ask("abc"), EndsWith("POST  abc"));
  EXPECT_THAT(client.Ask(head + "abc"), StartsWith("HTTP/1.1 200"));  // it did not wait
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  Start();
  TestClient client(address_);
  client.Send("HEAD /echo?a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.ReadResponse(/*has_body=*/false), HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(client.Ask(Get("/echo?b")), EndsWith("GET b "));
}

TEST_F(HttpServerTest, Http10ClosesUnlessAskedNotTo) {
  Start();
  TestClient closes(address_);
  closes.Send("GET /echo HTTP/1.0\r\n\r\n");
  EXPECT_THAT(closes.ReadToEnd(), HasSubstr("Connection: close\r\n"));
  TestClient keeps(address_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(keeps.Ask("GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
                HasSubstr("Connection: keep-alive\r\n"));
  }
}

TEST_F(HttpServerTest, AHandlerMayClose) {
  Start();
  TestClient client(address_);
  client.Send(Get("/close") + Get("/echo?never"));
  EXPECT_THAT(client.ReadToEnd(), AllOf(HasSubstr("Connection: close"), Not(HasSubstr("never"))));
}

// R25: what is smuggled behind a refused request is never answered.
TEST_F(HttpServerTest, ARefusalTellsWhyAndEndsTheConnection) {
  Start();
  for (const std::string_view bad :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 0\r\nContent-Length: 5",
        "Transfer-Encoding: xchunked", "Transfer-Encoding : chunked", "A: b\r\n c", "A: b\nC: d",
        "Content-Length: +0", "Content-Length: 0x0", "Host: b"}) {
    TestClient client(address_);
    client.Send("GET /echo HTTP/1.1\r\nHost: a\r\n" + std::string(bad) + "\r\n\r\n" + "0\r\n\r\n" +
                Get("/echo?smuggled"));
    EXPECT_THAT(client.ReadToEnd(),
                AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\n"),
                      HasSubstr("Connection: close\r\nContent-Type: application/json\r\n"),
                      HasSubstr("{\"error\": \""), Not(HasSubstr("200 OK"))))
        << bad;
  }
}

TEST_F(HttpServerTest, GoodRequestsBeforeABadOneAreAnswered) {
  Start();
  TestClient client(address_);
  client.Send(Get("/echo?1") + Get("/echo?2") + "BAD\r\n\r\n" + Get("/echo?3"));
  EXPECT_THAT(client.ReadToEnd(), AllOf(HasSubstr("GET 1 "), HasSubstr("GET 2 "),
                                        HasSubstr("400 Bad"), Not(HasSubstr("GET 3 "))));
}

// R29: refused before it is buffered, and the client can read why while it still sends.
TEST_F(HttpServerTest, WhatIsTooLargeIsRefused) {
  Start();
  const std::string mebibyte(1 << 20, 'x');
  std::string many_headers;
  for (int i = 0; i < 10'000; ++i) many_headers += "A: b\r\n";
  const std::pair<std::string, const char*> kCases[] = {
      {"GET /" + mebibyte, "414"},
      {"GET / HTTP/1.1\r\nA: " + mebibyte, "431"},
      {"GET / HTTP/1.1\r\n" + many_headers, "431"},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\n" + mebibyte.substr(9999),
       "413"},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n40000000\r\n", "413"},
  };
  for (const auto& [request, status] : kCases) {
    TestClient client(address_);
    client.Send(request);
    EXPECT_THAT(client.ReadResponse(), StartsWith("HTTP/1.1 " + std::string(status) + " "));
  }
}

TEST_F(HttpServerTest, ASlowHeadIsCutFromItsFirstByte) {
  Start({.header_timeout = milliseconds(150)});
  TestClient client(address_);
  client.Send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 200 && !client.Readable(milliseconds(20)); ++i) client.Send("A: b\r\n");
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(HttpServerTest, ASlowBodyIsCut) {
  Start({.header_timeout = milliseconds(150)});
  TestClient client(address_);
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  for (int i = 0; i < 200 && !client.Readable(milliseconds(20)); ++i) client.Send("x");
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(HttpServerTest, ABodyThatStopsIsCutHoweverFastItBegan) {
  Start({.header_timeout = milliseconds(150)});
  TestClient client(address_);
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
              std::string(99'999, 'x'));
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(HttpServerTest, ASteadyBodyMayTakeLongerThanTheTimeout) {
  Start({.header_timeout = milliseconds(400)});
  TestClient client(address_);
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n");
  for (int i = 0; i < 30; ++i) {
    client.Send(std::string(1000, 'x'));
    EXPECT_EQ(client.Readable(milliseconds(30)), i == 29);
  }
  EXPECT_THAT(client.ReadResponse(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, IdleConnectionsAreClosedInSilence) {
  Start({.header_timeout = milliseconds(100), .idle_timeout = milliseconds(150)});
  TestClient silent(address_);
  EXPECT_EQ(silent.ReadToEnd(), "");
  TestClient idle(address_);
  EXPECT_THAT(idle.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(idle.ReadToEnd(), "");
}

TEST_F(HttpServerTest, AClientThatDoesNotReadIsCut) {
  Start({.header_timeout = milliseconds(150)});
  TestClient client(address_);
  constexpr int kRequests = 64;  // more than the kernel buffers for us
  for (int i = 0; i < kRequests; ++i) client.Send(Get("/large"));
  // It reads nothing until a client that came later has been served and timed out.
  TestClient later(address_);
  EXPECT_THAT(later.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
  const auto start = std::chrono::steady_clock::now();
  while (client.Send("\r\n") && std::chrono::steady_clock::now() - start < milliseconds(10'000)) {
    later.Readable(milliseconds(20));
  }
  EXPECT_LT(client.ReadToEnd().size(), kRequests * TestHandler::kLarge);
}

TEST_F(HttpServerTest, AClientMayEndItsSideFirst) {
  Start();
  TestClient client(address_);
  client.Send(Get("/echo?1") + Get("/later?2") + Get("/echo?3"));
  client.EndSending();
  handler_.WaitForLater(1);
  EXPECT_THAT(client.ReadResponse(), EndsWith("GET 1 "));  // before the second is answered
  handler_.AnswerLater();
  EXPECT_THAT(client.ReadResponse(), EndsWith("later 2"));
  EXPECT_THAT(client.ReadToEnd(), EndsWith("GET 3 "));
}

TEST_F(HttpServerTest, HandlersAnswerLaterFromAnyThread) {
  Start({}, "127.0.0.1:0", 2);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<TestClient>(address_));
    clients.back()->Send(Get("/later?" + std::to_string(i)));
  }
  handler_.WaitForLater(20);
  std::thread([this] { handler_.AnswerLater(); }).join();
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(clients[i]->ReadResponse(), EndsWith("later " + std::to_string(i)));
  }
}

TEST_F(HttpServerTest, AClientMayLeaveWhileItsHandlerWaits) {
  Start();
  for (int i = 0; i < 10; ++i) {
    TestClient client(address_);
    client.Send(Get("/later") + Get("/later"));
  }
  handler_.WaitForLater(10);
  handler_.AnswerLater();
}

TEST_F(HttpServerTest, BothShardsServe) {
  Start({}, "127.0.0.1:0", 2);
  std::set<std::string> shards;
  for (int i = 0; i < 1000 && shards.size() < 2; ++i) {
    TestClient client(address_);
    const std::string response = client.Ask(Get("/shard"));
    shards.insert(response.substr(response.size() - 1));
  }
  EXPECT_THAT(shards, testing::ElementsAre("0", "1"));
}

TEST_F(HttpServerTest, TellsThePeerAddress) {
  Start();
  TestClient client(address_);
  EXPECT_THAT(client.Ask(Get("/peer")), EndsWith("\r\n\r\n127.0.0.1"));
}

TEST_F(HttpServerTest, TooManyConnectionsAreClosed) {
  Start({.max_connections = 2});
  {
    TestClient first(address_), second(address_);
    EXPECT_THAT(first.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(second.Ask(Get("/echo")), StartsWith("HTTP/1.1 200"));
    TestClient third(address_);
    EXPECT_EQ(third.ReadToEnd(), "");
    first.EndSending();
    EXPECT_EQ(first.ReadToEnd(), "");
  }
  server_->Drain();
  drained_ = true;
}

TEST_F(HttpServerTest, APortThatIsTakenIsRefused) {
  Start();
  HttpServer second(*shards_, handler_);
  const Result<void> listens = second.Listen(ParseListenAddress(address_).value());
  ASSERT_FALSE(listens.ok());
  EXPECT_EQ(listens.error().field, "listen");
  EXPECT_THAT(listens.error().message, HasSubstr(address_));
}

TEST_F(HttpServerTest, ServersShareTheShards) {
  Start();
  HttpServer second(*shards_, handler_);
  ASSERT_TRUE(second.Listen(ParseListenAddress("localhost:0").value()).ok());
  ASSERT_TRUE(second.Listen(ParseListenAddress("127.0.0.1:0").value()).ok());
  TestClient client(second.addresses().at(1));
  EXPECT_THAT(client.Ask(Get("/echo?2nd")), EndsWith("GET 2nd "));
}

// No descriptor is left for the connection: it waits, the loop does not spin, and then it is
// served.
TEST_F(HttpServerTest, RunsOutOfDescriptorsAndRecovers) {
  Start();
  const int probe = dup(0);
  close(probe);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  TestClient* client = nullptr;
  {
    const rlimit none{.rlim_cur = static_cast<rlim_t>(probe) + 1, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    client = new TestClient(address_);  // takes the last one
  }
  client->Send(Get("/echo?waited"));
  const std::clock_t cpu = std::clock();
  EXPECT_FALSE(client->Readable(milliseconds(400)));
  EXPECT_LT(std::clock() - cpu, CLOCKS_PER_SEC / 5);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(client->ReadResponse(), EndsWith("GET waited "));
  delete client;
}

}  // namespace
}  // namespace brim::net

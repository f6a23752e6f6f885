// What the nodes of a cluster say, as text; the cluster itself is in tests/server.
#include "redis/cluster.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "redis/slot.h"

namespace brim::redis {
namespace {

Result<std::vector<SlotRange>> Parse(std::string_view bytes) {
  Decoder decoder;
  bytes.copy(decoder.Prepare().data(), bytes.size());
  decoder.Commit(bytes.size());
  EXPECT_EQ(decoder.Next(), Decoder::Status::kReply);
  return ParseSlots(decoder.reply());
}

TEST(SlotTest, IsThatOfRedis) {
  EXPECT_EQ(SlotOf("123456789"), 0x31C3);  // CRC16 of the check text, below 16384
  EXPECT_EQ(SlotOf("foo"), 12182);
  EXPECT_EQ(SlotOf("ratelimit:{foo}:60"), 12182);
  EXPECT_EQ(SlotOf("{foo}{bar}"), 12182);
  EXPECT_EQ(SlotOf("{}foo"), SlotOf("{}foo"));
  EXPECT_NE(SlotOf("{}foo"), 12182);  // an empty tag is none
  EXPECT_NE(SlotOf("{foo"), 12182);
}

TEST(SlotTest, OfACommandIsThatOfItsFirstKey) {
  EXPECT_EQ(SlotOfCommand(Command(2).Arg("UNLINK").Arg("foo").Take()), 12182);
  EXPECT_EQ(SlotOfCommand(Command(3).Arg("UNLINK").Arg("foo").Arg("b").Take()), 12182);
  EXPECT_EQ(
      SlotOfCommand(
          Command(6).Arg("EVALSHA").Arg("sha").Arg(2).Arg("{foo}\r\n1").Arg("k").Arg("x").Take()),
      12182);
}

TEST(ClusterTest, ReadsItsSlots) {
  const auto ranges = Parse(
      "*2\r\n"
      "*4\r\n:0\r\n:8191\r\n*3\r\n$9\r\n127.0.0.1\r\n:7000\r\n$2\r\nid\r\n*2\r\n$1\r\nx\r\n:1\r\n"
      "*3\r\n:8192\r\n:16383\r\n*4\r\n$0\r\n\r\n:7001\r\n$2\r\nid\r\n*0\r\n");
  ASSERT_TRUE(ranges.ok());
  ASSERT_EQ(ranges->size(), 2u);
  EXPECT_EQ((*ranges)[0].last, 8191);
  EXPECT_EQ((*ranges)[0].primary, (Endpoint{.host = "127.0.0.1", .port = 7000}));
  EXPECT_EQ((*ranges)[1].first, 8192);
  EXPECT_EQ((*ranges)[1].primary, (Endpoint{.host = "", .port = 7001}));
  EXPECT_TRUE(Parse("*0\r\n").value().empty());
}

TEST(ClusterTest, RefusesWhatIsNoSlots) {
  for (const std::string range :
       {":1\r\n", "*2\r\n:0\r\n:1\r\n", "*3\r\n:0\r\n:1\r\n:2\r\n",
        "*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n", "*3\r\n:2\r\n:1\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:0\r\n",
        "*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:65536\r\n"}) {
    EXPECT_FALSE(Parse("*1\r\n" + range).ok()) << range;
  }
}

TEST(RedirectTest, ReadsDirections) {
  const auto moved = ParseDirection("MOVED 3999 10.0.0.1:6381");
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->ask);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->to, (Endpoint{.host = "10.0.0.1", .port = 6381}));
  EXPECT_TRUE(ParseDirection("ASK 1 :6381")->to.host.empty());
  EXPECT_EQ(ParseDirection("ASK 1 ::1:6381")->to.host, "::1");
  for (const char* text :
       {"MOVED", "MOVED 1", "MOVED 1 host", "MOVED 1 host:", "MOVED 1 host:0", "MOVED 1 host:x",
        "MOVED 16384 h:1", "MOVED -1 h:1", "MOVED x h:1", "TRYAGAIN 1 h:1", "ASKX 1 h:1", ""}) {
    EXPECT_FALSE(ParseDirection(text)) << text;
  }
}

TEST(EndpointTest, ReadsHostsAndPorts) {
  EXPECT_EQ(ParseEndpoint("h", 1).value(), (Endpoint{.host = "h", .port = 1}));
  EXPECT_EQ(ParseEndpoint("h:7", 1).value(), (Endpoint{.host = "h", .port = 7}));
  EXPECT_EQ(ParseEndpoint("[::1]", 1).value(), (Endpoint{.host = "::1", .port = 1}));
  EXPECT_EQ(ParseEndpoint("[::1]:7", 1).value(), (Endpoint{.host = "::1", .port = 7}));
  for (const char* text : {"", ":7", "h:", "h:0", "h:65536", "h:x", "[::1", "[::1]x", "[]:7"}) {
    EXPECT_FALSE(ParseEndpoint(text, 1).ok()) << text;
  }
  EXPECT_FALSE(ParseEndpoint(std::string(254, 'h'), 1).ok());
}

}  // namespace
}  // namespace brim::redis

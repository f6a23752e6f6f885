#include "store/store_url.h"

#include <string>

#include <gtest/gtest.h>

namespace brim {
namespace {

redis::ClientOptions Client(std::string_view url) {
  return std::get<redis::ClientOptions>(ParseStoreUrl(url).value());
}

TEST(StoreUrlTest, ReadsEveryPart) {
  const auto all = Client("redis://ann:p%40ss@10.0.0.1:7000/3");
  EXPECT_EQ(all.endpoint.host, "10.0.0.1");
  EXPECT_EQ(all.endpoint.port, 7000);
  EXPECT_EQ(all.user, "ann");
  EXPECT_EQ(all.password, "p@ss");
  EXPECT_EQ(all.db, 3);
  EXPECT_EQ(Client("redis://[::1]:7000").endpoint.host, "::1");
  EXPECT_EQ(Client("redis://localhost").endpoint.port, 6379);
  EXPECT_EQ(Client("redis://localhost/").db, 0);
  EXPECT_EQ(Client("redis://:secret@localhost").password, "secret");
  EXPECT_EQ(Client("redis://:secret@localhost").user, "");
}

TEST(StoreUrlTest, ReadsUnixSockets) {
  EXPECT_EQ(Client("unix:///run/redis.sock").endpoint.unix_path, "/run/redis.sock");
  EXPECT_EQ(Client("unix:///run/redis.sock?db=2").db, 2);
  const auto user = Client("unix://ann:secret@/run/redis.sock");
  EXPECT_EQ(user.endpoint.unix_path, "/run/redis.sock");
  EXPECT_EQ(user.user, "ann");
}

TEST(StoreUrlTest, ReadsTls) {
  EXPECT_FALSE(Client("redis://h").tls);
  const auto tls =
      Client("rediss://u:p@h:7/2?cafile=/a%20b.pem&cert=/c.pem&key=/k.pem&server_name=redis");
  ASSERT_TRUE(tls.tls);
  EXPECT_EQ(tls.endpoint.port, 7);
  EXPECT_EQ(tls.db, 2);
  EXPECT_EQ(tls.tls->ca_file, "/a b.pem");
  EXPECT_EQ(tls.tls->cert_file, "/c.pem");
  EXPECT_EQ(tls.tls->key_file, "/k.pem");
  EXPECT_EQ(tls.tls->server_name, "redis");
  EXPECT_TRUE(Client("rediss://h").tls);
}

TEST(StoreUrlTest, ReadsSentinels) {
  const auto all =
      Client("redis+sentinel://u:p@h1,h2:7,[::1]:8/mymaster/3?sentinel_password=x%26y");
  ASSERT_TRUE(all.sentinel);
  ASSERT_EQ(all.sentinel->endpoints.size(), 3u);
  EXPECT_EQ(all.sentinel->endpoints[0], (redis::Endpoint{.host = "h1", .port = 26379}));
  EXPECT_EQ(all.sentinel->endpoints[1], (redis::Endpoint{.host = "h2", .port = 7}));
  EXPECT_EQ(all.sentinel->endpoints[2], (redis::Endpoint{.host = "::1", .port = 8}));
  EXPECT_EQ(all.sentinel->master_name, "mymaster");
  EXPECT_EQ(all.sentinel->password, "x&y");
  EXPECT_EQ(all.user, "u");
  EXPECT_EQ(all.db, 3);
  EXPECT_FALSE(all.sentinel->tls);
  EXPECT_TRUE(Client("rediss+sentinel://h/m").sentinel->tls);
  EXPECT_TRUE(Client("rediss+sentinel://h/m?sentinel_tls=no").tls);
  EXPECT_FALSE(Client("rediss+sentinel://h/m?sentinel_tls=no").sentinel->tls);
}

TEST(StoreUrlTest, ReadsClusters) {
  const auto all = Client("rediss+cluster://u:p@h1:7000,h2/0?cafile=/ca.pem");
  ASSERT_EQ(all.cluster.size(), 2u);
  EXPECT_EQ(all.cluster[0], (redis::Endpoint{.host = "h1", .port = 7000}));
  EXPECT_EQ(all.cluster[1], (redis::Endpoint{.host = "h2", .port = 6379}));
  EXPECT_EQ(all.user, "u");
  EXPECT_EQ(all.tls->ca_file, "/ca.pem");
}

TEST(StoreUrlTest, MemoryIsItself) {
  EXPECT_TRUE(std::holds_alternative<MemoryUrl>(ParseStoreUrl("memory://").value()));
}

TEST(StoreUrlTest, RefusesTheRestWithoutShowingThePassword) {
  for (const char* url : {"",
                          "redis",
                          "http://x",
                          "redis://",
                          "redis://:",
                          "redis://h:",
                          "redis://h:0",
                          "redis://h:65536",
                          "redis://h:6379x",
                          "redis://h/-1",
                          "redis://h/x",
                          "redis://[::1",
                          "redis://[::1]x",
                          "redis://h?db=1",
                          "unix://",
                          "unix:///s?x=1",
                          "memory://x",
                          "redis://u:secret%4@h",
                          "redis://u:secret%zz@h",
                          "redis://h1,h2",
                          "redis://h?cafile=/ca.pem",
                          "rediss://h?cafile=",
                          "rediss://h?cafile=/a&cafile=/b",
                          "rediss://h?verify=no",
                          "redis+sentinel://h",
                          "redis+sentinel:///m",
                          "redis+sentinel://h/m/x",
                          "redis+sentinel://h/m?sentinel_tls=no",
                          "rediss+sentinel://h/m?sentinel_tls=perhaps",
                          "redis+sentinel://h/m?sentinel_password=secret&x=1",
                          "redis+sentinel://h1,,h2/m",
                          "redis+cluster://",
                          "redis+cluster://h/1",
                          "redis://u:sec?ret@h/secret",
                          "redis://u:secret@h:0"}) {
    const auto parsed = ParseStoreUrl(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(parsed.error().field, "store");
    EXPECT_EQ(parsed.error().message.find("secret"), std::string::npos) << url;
  }
}

}  // namespace
}  // namespace brim

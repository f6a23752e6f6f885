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

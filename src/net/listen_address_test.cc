#include "net/listen_address.h"

#include <gtest/gtest.h>

namespace brim::net {
namespace {

TEST(ListenAddressTest, IsReadAndPrinted) {
  for (const char* text :
       {"127.0.0.1:8080", "localhost:0", "[::1]:65535", "[::]:1", "unix:/run/brim/brim.sock"}) {
    const Result<ListenAddress> address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << text << ": " << address.error().message;
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseListenAddress("[::1]:80")->host, "::1");
  EXPECT_EQ(ParseListenAddress("a:80")->port, 80);
  EXPECT_TRUE(ParseListenAddress("unix:/a")->is_unix());
}

TEST(ListenAddressTest, AnythingElseIsRefusedByName) {
  const std::string long_path = "unix:/" + std::string(107, 'x');
  for (const std::string& text : {std::string(),
                                  std::string("8080"),
                                  std::string("127.0.0.1"),
                                  std::string("a:"),
                                  std::string("a:65536"),
                                  std::string("a:-1"),
                                  std::string("a:+1"),
                                  std::string("a:8o"),
                                  std::string("a: 80"),
                                  std::string(":80"),
                                  std::string("::1:80"),
                                  std::string("[::1]"),
                                  std::string("[]:80"),
                                  std::string("[a]:80"),
                                  std::string("a b:80"),
                                  std::string("http://a:80"),
                                  std::string("unix:"),
                                  std::string("unix:relative"),
                                  std::string("unix:/a\0b", 9),
                                  long_path}) {
    const Result<ListenAddress> address = ParseListenAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(address.error().field, "listen");
    EXPECT_NE(address.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace brim::net

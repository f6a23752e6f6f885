#include "base/ip_address.h"

#include <gtest/gtest.h>

namespace brim {
namespace {

std::string Canonical(std::string_view text) {
  const auto address = IpAddress::Parse(text);
  return address ? address->ToString() : "none";
}

TEST(IpAddressTest, OneAddressHasOneText) {
  EXPECT_EQ(Canonical("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(Canonical("2001:DB8:0:0::0001"), "2001:db8::1");
  EXPECT_EQ(Canonical("2001:db8::1"), "2001:db8::1");
  EXPECT_EQ(Canonical("fe80::1%eth0"), "fe80::1");
  EXPECT_EQ(Canonical("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(Canonical("::FFFF:C000:0201"), "192.0.2.1");
  EXPECT_EQ(Canonical("::192.0.2.1"), "::192.0.2.1");
  EXPECT_EQ(IpAddress::Parse("::ffff:192.0.2.1"), IpAddress::Parse("192.0.2.1"));
}

TEST(IpAddressTest, RefusesWhatIsNoAddress) {
  for (const std::string_view text :
       {"", " ", "unknown", "_hidden", "192.0.2", "192.0.2.256", "192.0.2.01", "192.0.2.1:80",
        "[::1]", "::1 ", ":::", "1::2::3", "fe80::1%", "12345::", "0x7f.1", "192.0.2.1%eth0",
        "2001:db8::1/64"}) {
    EXPECT_EQ(Canonical(text), "none") << text;
  }
  EXPECT_EQ(Canonical(std::string_view("1.2.3.4\0", 8)), "none");
}

TEST(IpAddressTest, MaskKeepsTheFirstBits) {
  const auto v6 = *IpAddress::Parse("2001:db8:1:2:3:4:5:6");
  EXPECT_EQ(v6.Masked(64).ToString(), "2001:db8:1:2::");
  EXPECT_EQ(v6.Masked(63).ToString(), "2001:db8:1:2::");
  EXPECT_EQ(v6.Masked(62).ToString(), "2001:db8:1::");
  EXPECT_EQ(v6.Masked(128), v6);
  EXPECT_EQ(v6.Masked(0).ToString(), "::");
  EXPECT_EQ(IpAddress::Parse("192.0.2.255")->Masked(25).ToString(), "192.0.2.128");
}

TEST(CidrTest, ContainsItsAddressesAndNoOther) {
  const auto ten = *Cidr::Parse("10.0.0.0/8");
  EXPECT_TRUE(ten.Contains(*IpAddress::Parse("10.255.255.255")));
  EXPECT_TRUE(ten.Contains(*IpAddress::Parse("::ffff:10.0.0.1")));
  EXPECT_FALSE(ten.Contains(*IpAddress::Parse("11.0.0.0")));
  EXPECT_FALSE(ten.Contains(*IpAddress::Parse("a00::")));  // the same first bits, in IPv6
  EXPECT_TRUE(Cidr::Parse("0.0.0.0/0")->Contains(*IpAddress::Parse("203.0.113.9")));
  EXPECT_FALSE(Cidr::Parse("0.0.0.0/0")->Contains(*IpAddress::Parse("::1")));
  EXPECT_EQ(Cidr::Parse("::1")->ToString(), "::1/128");
}

TEST(CidrTest, RefusesWhatIsNoNetwork) {
  for (const std::string_view text :
       {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.1/8", "/8", "::/129",
        "10.0.0.0/8/8", "example.com"}) {
    EXPECT_FALSE(Cidr::Parse(text)) << text;
  }
}

}  // namespace
}  // namespace brim

#include "door/client_address.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace brim::door {
namespace {

constexpr char kFor[] = "X-Forwarded-For";

PolicySet Trusting(std::vector<std::string_view> networks,
                   ProxyHeader header = ProxyHeader::kXForwardedFor) {
  PolicySet set = DefaultPolicySet();
  for (const std::string_view network : networks) {
    set.trusted_proxies.push_back(*Cidr::Parse(network));
  }
  set.identity.proxy_header = header;
  return set;
}

std::string Client(const PolicySet& policy, std::string_view peer,
                   const std::vector<net::HttpHeader>& headers) {
  const net::HttpRequest request{.method = "GET",
                                 .path = "/",
                                 .query = {},
                                 .headers = headers,
                                 .body = {},
                                 .peer_address = peer};
  const auto address = ClientAddress(request, policy);
  return address ? address->ToString() : "none";
}

TEST(ClientAddressTest, R19AnUntrustedPeerIsTheClientWhateverItWrites) {
  const PolicySet policy = Trusting({"10.0.0.0/8"});
  EXPECT_EQ(Client(policy, "203.0.113.9", {{kFor, "198.51.100.1"}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "203.0.113.9", {{kFor, "10.0.0.1"}}), "203.0.113.9");
  EXPECT_EQ(Client(Trusting({}), "127.0.0.1", {{kFor, "198.51.100.1"}}), "127.0.0.1");
}

TEST(ClientAddressTest, R19TheRightMostUntrustedAddressIsTheClient) {
  const PolicySet policy = Trusting({"10.0.0.0/8"});
  // One proxy: it appended whom it saw; the rest the client wrote.
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "203.0.113.9"}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "198.51.100.1, 203.0.113.9"}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "10.0.0.7, 203.0.113.9"}}), "203.0.113.9");
  // Two proxies.
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "198.51.100.1, 203.0.113.9, 10.0.0.2"}}),
            "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "10.0.0.3,10.0.0.2"}}), "10.0.0.3");
}

TEST(ClientAddressTest, R19SeveralLinesAreOneList) {
  const PolicySet policy = Trusting({"10.0.0.0/8"});
  EXPECT_EQ(
      Client(policy, "10.0.0.1", {{kFor, "198.51.100.1"}, {"x-forwarded-for", "203.0.113.9"}}),
      "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1",
                   {{kFor, "198.51.100.1, 203.0.113.9"}, {"Host", "a"}, {kFor, "10.0.0.2"}}),
            "203.0.113.9");
}

TEST(ClientAddressTest, R19PortsAndBracketsAreTakenOff) {
  const PolicySet policy = Trusting({"10.0.0.0/8"});
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "203.0.113.9:4711"}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "[2001:db8::1]:4711"}}), "2001:db8::1");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "[2001:db8::1]"}}), "2001:db8::1");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "2001:db8::1"}}), "2001:db8::1");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, "203.0.113.9, 10.0.0.2:80"}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, " \t203.0.113.9\t "}}), "203.0.113.9");
}

TEST(ClientAddressTest, R19GarbageEndsTheWalkAtWhoeverPassedItOn) {
  const PolicySet policy = Trusting({"10.0.0.0/8"});
  for (const std::string_view garbage :
       {"unknown", "_hidden", "203.0.113.9 x", "203.0.113.9:", "203.0.113.9:123456",
        "[203.0.113.9]", "[2001:db8::1", "[2001:db8::1]x", "2001:db8::1]", "1.2.3",
        "\"203.0.113.9\"", "\xff", "[]"}) {
    EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, garbage}}), "10.0.0.1") << garbage;
    const std::string behind = "198.51.100.1, " + std::string(garbage) + ", 10.0.0.2";
    EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, behind}}), "10.0.0.2") << garbage;
  }
}

TEST(ClientAddressTest, EmptyItemsAreNone) {
  const PolicySet policy = Trusting({"10.0.0.0/8"});
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, ""}}), "10.0.0.1");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, ",, 203.0.113.9, ,"}, {kFor, " "}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1", {}), "10.0.0.1");
}

TEST(ClientAddressTest, TheOtherHeaderIsNotRead) {
  EXPECT_EQ(Client(Trusting({"10.0.0.0/8"}), "10.0.0.1", {{"Forwarded", "for=198.51.100.1"}}),
            "10.0.0.1");
  EXPECT_EQ(Client(Trusting({"10.0.0.0/8"}, ProxyHeader::kForwarded), "10.0.0.1",
                   {{kFor, "198.51.100.1"}, {"Forwarded", "for=203.0.113.9"}}),
            "203.0.113.9");
}

TEST(ClientAddressTest, AMappedPeerIsTheIpv4Address) {
  EXPECT_EQ(Client(Trusting({"10.0.0.0/8"}), "::ffff:10.0.0.1", {{kFor, "::ffff:203.0.113.9"}}),
            "203.0.113.9");
}

TEST(ClientAddressTest, AUnixPeerIsTrustedOnlyIfTheConfigurationSaysSo) {
  PolicySet policy = Trusting({"10.0.0.0/8"});
  EXPECT_EQ(Client(policy, "unix", {{kFor, "203.0.113.9"}}), "none");
  policy.trusts_unix = true;
  EXPECT_EQ(Client(policy, "unix", {{kFor, "198.51.100.1, 203.0.113.9"}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "unix", {{kFor, "garbage"}}), "none");
}

TEST(ClientAddressTest, TheWalkIsBounded) {
  const PolicySet policy = Trusting({"10.0.0.0/8"});
  std::string list = "203.0.113.9";
  for (std::size_t i = 1; i < limits::kMaxForwardedHops; ++i) list += ", 10.0.0.2";
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, list}}), "203.0.113.9");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, list + ", 10.0.0.3"}}), "10.0.0.2");
  EXPECT_EQ(Client(policy, "10.0.0.1", {{kFor, list}, {kFor, "10.0.0.3"}}), "10.0.0.2");
}

TEST(ForwardedTest, R19IsReadLikeTheOther) {
  const PolicySet policy = Trusting({"10.0.0.0/8", "2001:db8:ffff::/48"}, ProxyHeader::kForwarded);
  const auto client = [&policy](std::vector<std::string_view> lines) {
    std::vector<net::HttpHeader> headers;
    for (const std::string_view line : lines) headers.push_back({"Forwarded", line});
    return Client(policy, "10.0.0.1", headers);
  };
  EXPECT_EQ(client({"for=203.0.113.9"}), "203.0.113.9");
  EXPECT_EQ(client({"For=\"[2001:db8::1]:4711\";proto=http;by=203.0.113.43"}), "2001:db8::1");
  EXPECT_EQ(
      client({"for=198.51.100.1, for=203.0.113.9;proto=https ; host=a , proto=http;for=10.0.0.2"}),
      "203.0.113.9");
  EXPECT_EQ(client({"for=198.51.100.1", "for=203.0.113.9", "for=\"[2001:db8:ffff::1]\""}),
            "203.0.113.9");
  EXPECT_EQ(client({", for=203.0.113.9 ,,"}), "203.0.113.9");
  EXPECT_EQ(client({"host=\"a,for=198.51.100.1\";for=203.0.113.9"}), "203.0.113.9");
}

TEST(ForwardedTest, R19AMistakeMakesTheWholeLineNothing) {
  const PolicySet policy = Trusting({"10.0.0.0/8"}, ProxyHeader::kForwarded);
  for (const std::string_view line :
       {"203.0.113.9", "for", "for=", "for=\"203.0.113.9", "for=203.0.113.9;", "for=203.0.113.9;;",
        "for = 203.0.113.9", "for=\"203.0.113.9\"x", "for=\"203.0\\.113.9\"",
        "for=1.2.3.4;for=5.6.7.8", "for=198.51.100.1;x=\", for=203.0.113.9", "for=unknown",
        "proto=http", "for=\"\"", "for=198.51.100.1;x=\", for=\"203.0.113.9\"", "for=2001:db8::1",
        "for=[2001:db8::1]"}) {
    EXPECT_EQ(Client(policy, "10.0.0.1", {{"Forwarded", line}}), "10.0.0.1") << line;
    // And what stands in an earlier line is behind it.
    EXPECT_EQ(Client(policy, "10.0.0.1", {{"Forwarded", "for=198.51.100.1"}, {"Forwarded", line}}),
              "10.0.0.1")
        << line;
  }
}

}  // namespace
}  // namespace brim::door

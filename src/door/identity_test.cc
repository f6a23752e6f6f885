#include "door/identity.h"

#include <vector>

#include <gtest/gtest.h>

#include "policy/config/load_config.h"

namespace brim::door {
namespace {

// As a configuration says it, with the key `sk-alice` in the table.
PolicySet Policy(const std::string& text) {
  const LoadedConfig loaded = LoadConfig(text, "brim.yaml");
  EXPECT_TRUE(loaded.ok()) << loaded.Format();
  PolicySet set = loaded.ok() ? *loaded.policy : DefaultPolicySet();
  auto table = std::make_shared<ApiKeyTable>("a secret of 16 bytes or more");
  table->Add(table->Hash("sk-alice").value(), {.subject = "alice", .tier = "pro"});
  set.identity.api_keys = table;
  return set;
}

// "subject/tier", or the field of the error.
std::string Who(const PolicySet& policy, const std::vector<net::HttpHeader>& headers = {},
                std::string_view peer = "203.0.113.9") {
  const net::HttpRequest request{.method = "GET",
                                 .path = "/",
                                 .query = {},
                                 .headers = headers,
                                 .body = {},
                                 .peer_address = peer};
  const auto identity = Identify(request, policy);
  if (!identity) return "error: " + identity.error().field;
  return std::string(identity->subject()) + "/" + std::string(identity->tier());
}

TEST(IdentityTest, WithoutAConfigurationItIsTheAddress) {
  const PolicySet policy = DefaultPolicySet();
  EXPECT_EQ(Who(policy), "203.0.113.9/");
  EXPECT_EQ(Who(policy, {{"X-Client-Id", "me"}, {"X-Tier", "pro"}, {"X-Forwarded-For", "1.2.3.4"}}),
            "203.0.113.9/");
  EXPECT_EQ(Who(policy, {}, "unix"), "anonymous/");
  EXPECT_EQ(Who(policy, {}, ""), "anonymous/");
}

TEST(IdentityTest, P29AddressesOfOnePrefixAreOneClient) {
  PolicySet policy = DefaultPolicySet();
  EXPECT_EQ(Who(policy, {}, "2001:db8:1:2::1"), "2001:db8:1:2::/");
  EXPECT_EQ(Who(policy, {}, "2001:DB8:1:2:ffff:0:0:1"), "2001:db8:1:2::/");
  EXPECT_EQ(Who(policy, {}, "2001:db8:1:3::1"), "2001:db8:1:3::/");
  EXPECT_EQ(Who(policy, {}, "fe80::1%eth0"), "fe80::/");
  EXPECT_EQ(Who(policy, {}, "::ffff:192.0.2.1"), "192.0.2.1/");
  EXPECT_EQ(Who(policy, {}, "192.0.2.1"), "192.0.2.1/");
  policy.identity.ipv6_prefix = 48;
  EXPECT_EQ(Who(policy, {}, "2001:db8:1:2::1"), "2001:db8:1::/");
  policy.identity.ipv6_prefix = 128;
  EXPECT_EQ(Who(policy, {}, "2001:db8:1:2:3:4:5:6"), "2001:db8:1:2:3:4:5:6/");
}

TEST(IdentityTest, TheFirstSourceThatIsPresentWins) {
  const PolicySet policy = Policy(
      "identity: {subject: [{api_key: {header: Authorization, table: k}}, {header: X-Client-Id}, "
      "peer_address], tier: [{api_key: tier}]}");
  EXPECT_EQ(Who(policy, {{"Authorization", "Bearer sk-alice"}, {"X-Client-Id", "me"}}),
            "alice/pro");
  EXPECT_EQ(Who(policy, {{"authorization", "bearer  sk-alice"}}), "alice/pro");
  EXPECT_EQ(Who(policy, {{"Authorization", "sk-alice"}}), "alice/pro");
  EXPECT_EQ(Who(policy, {{"Authorization", "Bearer sk-other"}, {"X-Client-Id", "me"}}), "me/");
  EXPECT_EQ(Who(policy, {{"Authorization", "Bearer "}, {"X-Client-Id", ""}}), "203.0.113.9/");
  EXPECT_EQ(Who(policy), "203.0.113.9/");
}

TEST(IdentityTest, WithoutASourceThereIsNobody) {
  const PolicySet policy = Policy("identity: {subject: [{header: X-Client-Id}]}");
  EXPECT_EQ(Who(policy), "error: identity");
  EXPECT_EQ(Who(Policy("identity: {subject: [peer_address]}"), {}, "unix"), "error: identity");
}

TEST(IdentityTest, AHeaderThatComesTwiceIsRefused) {
  const PolicySet policy = Policy(
      "identity: {subject: [{api_key: {header: X-Key, table: k}}, {header: X-Client-Id}, "
      "anonymous]}");
  EXPECT_EQ(Who(policy, {{"X-Client-Id", "a"}, {"x-client-id", "b"}}), "error: X-Client-Id");
  EXPECT_EQ(Who(policy, {{"X-Key", "sk-alice"}, {"X-Key", "b"}}), "error: X-Key");
}

TEST(IdentityTest, AHeaderOfTrustedProxiesIsTheirsAlone) {
  const PolicySet policy = Policy(
      "trusted_proxies: [10.0.0.0/8, unix]\n"
      "identity: {subject: [{header: X-User, from: trusted_proxies}, peer_address],"
      " tier: [{header: X-Tier, from: trusted_proxies}]}");
  const std::vector<net::HttpHeader> headers = {{"X-User", "me"}, {"X-Tier", "pro"}};
  EXPECT_EQ(Who(policy, headers, "10.1.2.3"), "me/pro");
  EXPECT_EQ(Who(policy, headers, "unix"), "me/pro");
  EXPECT_EQ(Who(policy, headers, "203.0.113.9"), "203.0.113.9/");
  // That a trusted proxy speaks for the client does not make the client one.
  EXPECT_EQ(Who(policy, {{"X-Tier", "pro"}, {"X-Forwarded-For", "10.0.0.9"}}), "203.0.113.9/");
}

TEST(IdentityTest, TheTierOfAKeyIsFoundBehindAnotherSubject) {
  const PolicySet policy = Policy(
      "identity: {subject: [{header: X-Client-Id}, {api_key: {header: X-Key, table: k}}],"
      " tier: [{api_key: tier}]}");
  EXPECT_EQ(Who(policy, {{"X-Client-Id", "me"}, {"X-Key", "sk-alice"}}), "me/pro");
  EXPECT_EQ(Who(policy, {{"X-Client-Id", "me"}, {"X-Key", "sk-other"}}), "me/");
}

TEST(IdentityTest, AnErrorIsAnsweredWithItsStatus) {
  net::HttpResponse nobody;
  AnswerUnidentified({ErrorCode::kInvalid, "x", "identity"}, nobody);
  EXPECT_EQ(nobody.status, 401);
  EXPECT_NE(nobody.headers.find("WWW-Authenticate: Bearer\r\n"), std::string::npos);
  net::HttpResponse twice;
  AnswerUnidentified({ErrorCode::kInvalid, "x", "X-Client-Id"}, twice);
  EXPECT_EQ(twice.status, 400);
}

}  // namespace
}  // namespace brim::door

#include "policy/config/show_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/config/config_testing.h"

namespace brim {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string ShownOf(const std::string& text) {
  const LoadedConfig loaded = LoadConfig(text, "brim.yaml");
  EXPECT_TRUE(loaded.ok()) << testing::PrintToString(Told(loaded));
  return loaded.ok() ? ShowConfig(*loaded.policy) : "";
}

constexpr char kEverySetting[] = R"(
listen: "[::1]:8081"
api_token_file: /t
headers: []
log: json
drain_delay: 2s
deny: problem
admin: {listen: "unix:/run/admin", token_file: /a}
store: {url: memory://, timeout: 2s, on_failure: open, nodes: 3, key_prefix: a:b, hash_tag: true, max_memory: 1GiB, password_file: /p}
trusted_proxies: [10.0.0.0/8, 2001:db8::/32, unix]
tiers:
  a: {limits: ["10/second burst 20", {limit: 5 per minute fixed_window aligned, count: all, key: plain}], per_route: true, mode: shadow}
  b: [100 per day sliding_window_counter shadow, {limit: 1 per week weighted, subject: "s\"'", scope: x, cost: 1, mode: off}]
default_tier: b
identity:
  subject: [{api_key: {header: Authorization, table: k.yaml}}, {header: X, from: trusted_proxies}, {header: Y}, peer_address, anonymous]
  tier: [{api_key: tier}, {header: Z, from: trusted_proxies}]
  ipv6_prefix: 48
  proxy_header: Forwarded
gateway:
  listen: 0.0.0.0:1
  routes:
    - {name: r, path: /r, limits: [1/s], tiers: true, deny: object, mode: off, respond: {json: {a: [1, "1", null, true, "${query.q}"]}}}
)";

TEST(ShowConfigTest, ReadsBackToTheSame) {
  const std::string shown = ShownOf(kEverySetting);
  EXPECT_EQ(ShownOf(shown), shown);
  for (const std::string_view part :
       {R"("10 per second burst 20")", "count: all", "key: plain", "per_route: true",
        "mode: shadow", "headers: []", "log: json", "drain_delay: 2000ms", R"(subject: "s\"'")",
        "timeout: 2000ms", "max_memory: 1073741824", R"({"a": [1, "1", null, true, "${query.q}"]})",
        "from: trusted_proxies", "unix]", "proxy_header: Forwarded", "deny: object"}) {
    EXPECT_THAT(shown, HasSubstr(part));
  }
}

TEST(ShowConfigTest, ShowsTheDefaults) {
  const std::string shown = ShownOf("");
  EXPECT_EQ(shown, ShowConfig(DefaultPolicySet()));
  EXPECT_EQ(ShownOf(shown), shown);
  EXPECT_THAT(shown, HasSubstr(R"(  "free": {limits: ["5 per minute", "100 per day"], )"));
}

TEST(ShowConfigTest, MasksThePassword) {
  const std::string shown = ShownOf("store: {url: \"redis://me:geheim@127.0.0.1:6379/0\"}\n");
  EXPECT_THAT(shown, HasSubstr(R"(url: "redis://***@127.0.0.1:6379/0")"));
  EXPECT_THAT(shown, Not(HasSubstr("geheim")));
}

}  // namespace
}  // namespace brim

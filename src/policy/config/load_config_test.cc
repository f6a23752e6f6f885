#include "policy/config/load_config.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "policy/config/config_testing.h"

namespace brim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<const PolicySet> Load(std::string text) {
  const LoadedConfig loaded = LoadConfig(std::move(text), "brim.yaml");
  EXPECT_TRUE(loaded.ok()) << testing::PrintToString(Told(loaded));
  return loaded.ok() ? loaded.policy : std::make_shared<const PolicySet>(DefaultPolicySet());
}

std::vector<std::string> Limits(const std::vector<PolicyLimit>& limits) {
  std::vector<std::string> texts;
  for (const PolicyLimit& limit : limits) texts.push_back(FormatLimit(limit.limit));
  return texts;
}

constexpr char kWhole[] = R"(listen: 127.0.0.1:8081
api_token_file: /run/brim/api-token
headers: [ietf]
deny: object
admin: {listen: 127.0.0.1:9091, token_file: /run/brim/token}
store: {url: "redis://127.0.0.1:6379/0", timeout: 20ms, on_failure: closed, nodes: 2, key_prefix: rl, hash_tag: true, max_memory: 64MiB, password_file: /run/brim/redis}
trusted_proxies: [10.0.0.0/8, unix]
tiers:
  basic: [5 per minute, 100 per day]
  pro: 60 per minute; 5000 per day
  each: {limits: [7 per minute], per_route: true, mode: shadow}
default_tier: basic
identity:
  subject: [{api_key: {header: Authorization, table: keys.yaml}}, {header: X-User, from: trusted_proxies}, peer_address]
  tier: [{api_key: tier}, {header: X-Tier, from: trusted_proxies}]
  ipv6_prefix: 56
  proxy_header: Forwarded
gateway:
  listen: 0.0.0.0:8000
  routes:
    - {name: search, path: /api/search, limits: [5 per hour], respond: {json: {query: "${query.q}", results: [], n: 1}}, deny: message, mode: off}
    - name: models
      path: /openai/
      tiers: true
      limits: [{limit: 500 per minute, subject: "upstream:openai", scope: "", cost: 2}]
      respond: {json: true}
)";

TEST(LoadConfigTest, ReadsTheListenersAndTheStore) {
  const auto set = Load(kWhole);
  EXPECT_EQ(set->listen, "127.0.0.1:8081");
  EXPECT_EQ(set->api_token_file, "/run/brim/api-token");
  EXPECT_EQ(set->admin_listen, "127.0.0.1:9091");
  EXPECT_EQ(set->admin_token_file, "/run/brim/token");
  EXPECT_EQ(set->gateway_listen, "0.0.0.0:8000");
  EXPECT_FALSE(set->headers.x_ratelimit);
  EXPECT_TRUE(set->headers.ietf);
  EXPECT_EQ(set->store.url, "redis://127.0.0.1:6379/0");
  EXPECT_EQ(set->store.timeout, 20ms);
  EXPECT_EQ(set->store.on_failure, OnFailure::kClosed);
  EXPECT_EQ(set->store.nodes, 2);
  EXPECT_EQ(set->store.key_prefix, "rl");
  EXPECT_TRUE(set->store.hash_tag);
  EXPECT_EQ(set->store.max_memory, 64u << 20);
  EXPECT_EQ(set->store.password_file, "/run/brim/redis");
}

TEST(LoadConfigTest, ReadsTiersAndIdentity) {
  const auto set = Load(kWhole);
  EXPECT_EQ(set->default_tier, "basic");
  EXPECT_THAT(Limits(set->FindTier("basic").limits), ElementsAre("5 per minute", "100 per day"));
  EXPECT_THAT(Limits(set->FindTier("pro").limits), ElementsAre("60 per minute", "5000 per day"));
  EXPECT_THAT(Limits(set->FindTier("each").limits), ElementsAre("7 per minute shadow"));
  EXPECT_TRUE(set->FindTier("each").per_route);

  ASSERT_EQ(set->trusted_proxies.size(), 1u);
  EXPECT_TRUE(set->trusts_unix);
  const IdentityPolicy& identity = set->identity;
  ASSERT_EQ(identity.subject.size(), 3u);
  EXPECT_EQ(identity.subject[0].kind, SubjectSource::Kind::kApiKey);
  EXPECT_EQ(identity.subject[0].header, "Authorization");
  EXPECT_EQ(identity.subject[1].header, "X-User");
  EXPECT_TRUE(identity.subject[1].from_trusted_proxies);
  EXPECT_EQ(identity.subject[2].kind, SubjectSource::Kind::kPeerAddress);
  ASSERT_EQ(identity.tier.size(), 2u);
  EXPECT_EQ(identity.tier[1].header, "X-Tier");
  EXPECT_EQ(identity.key_table, "keys.yaml");
  EXPECT_EQ(identity.ipv6_prefix, 56);
  EXPECT_EQ(identity.proxy_header, ProxyHeader::kForwarded);
}

TEST(LoadConfigTest, ReadsRoutes) {
  const auto set = Load(kWhole);
  const RoutePolicy* const search = set->FindRoute("/api/search");
  ASSERT_NE(search, nullptr);
  EXPECT_EQ(search->respond, R"({"query": "${query.q}", "results": [], "n": 1})");
  EXPECT_EQ(search->deny, DenyForm::kMessage);
  EXPECT_EQ(search->mode, Mode::kOff);
  EXPECT_EQ(search->limits[0].limit.mode(), Mode::kOff);
  EXPECT_FALSE(search->tiers);
  const RoutePolicy* const models = set->FindRoute("/openai/v1/chat");
  ASSERT_NE(models, nullptr);
  EXPECT_TRUE(models->tiers);
  EXPECT_EQ(models->deny, DenyForm::kObject);  // that of the whole file
  const PolicyLimit& shared = models->limits[0];
  EXPECT_EQ(shared.subject, "upstream:openai");
  EXPECT_EQ(shared.scope, "");
  EXPECT_EQ(shared.cost, 2);
}

TEST(LoadConfigTest, AnEmptyFileMeansTheDefaults) {
  const auto set = Load("# nothing\n");
  EXPECT_EQ(set->tiers.size(), 3u);
  EXPECT_EQ(set->default_tier, "free");
  EXPECT_EQ(set->listen, "127.0.0.1:8080");
  EXPECT_EQ(set->admin_listen, "127.0.0.1:9090");
  EXPECT_TRUE(set->gateway_listen.empty());
}

TEST(LoadConfigTest, AliasesStandForWhatTheyName) {
  const auto set = Load("tiers: {free: &one [1 per minute], pro: *one}\n");
  EXPECT_THAT(Limits(set->FindTier("pro").limits), ElementsAre("1 per minute"));
}

TEST(LoadConfigTest, ThePlainRecipeCanBeWritten) {
  const auto set =
      Load("tiers: {free: [{limit: 5 per minute fixed_window, count: all, key: plain}]}\n");
  const PolicyLimit& limit = set->FindTier("free").limits[0];
  EXPECT_EQ(limit.limit.count(), Count::kAll);
  EXPECT_EQ(limit.limit.key(), KeyForm::kPlain);
  EXPECT_EQ(limit.scope, "");  // a plain key has no room for one
}

TEST(LoadConfigTest, AsksTheChecksOfOtherParts) {
  const auto refuse = [](const char* what) {
    return [what](std::string_view text) -> Result<void> {
      return Error{ErrorCode::kInvalid, std::string(what) + " " + std::string(text), ""};
    };
  };
  const LoadedConfig loaded = LoadConfig(
      "listen: 127.0.0.1:1\nstore: {url: b}\n"
      "gateway: {routes: [{name: c, path: /c, limits: [], respond: {json: [c]}}]}\n",
      "brim.yaml",
      {.listen = refuse("bad listen"),
       .store_url = refuse("bad store"),
       .respond = refuse("bad json")});
  EXPECT_THAT(Told(loaded),
              ElementsAre("1:9 listen: bad listen 127.0.0.1:1", "2:14 store.url: bad store b",
                          "3:68 gateway.routes[0].respond: bad json [\"c\"]"));
}

TEST(LoadConfigTest, WarnsOfWhatCanBeSpoofed) {
  const LoadedConfig loaded = LoadConfig(
      "listen: 0.0.0.0:8080\n"
      "store: {url: \"redis://:secret@127.0.0.1\"}\n"
      "trusted_proxies: [0.0.0.0/0]\n"
      "identity: {subject: [{api_key: {header: X-Key, table: k}}, {header: X-Client-Id}]}\n",
      "brim.yaml");
  EXPECT_TRUE(loaded.ok());
  ASSERT_EQ(loaded.issues.size(), 5u);
  EXPECT_THAT(Told(loaded)[0], HasSubstr("BRIM-W004 1:9 listen: "));
  EXPECT_THAT(Told(loaded)[1], HasSubstr("BRIM-W006 2:14 store.url: "));
  EXPECT_THAT(Told(loaded)[2], HasSubstr("BRIM-W003 3:18 trusted_proxies: "));
  EXPECT_THAT(Told(loaded)[3], HasSubstr("BRIM-W001 4:21 identity.subject: "));
  EXPECT_THAT(Told(loaded)[4], HasSubstr("BRIM-W005 4:21 identity.subject: "));
}

TEST(LoadConfigTest, DoesNotWarnOfWhatCannot) {
  for (const std::string_view listen :
       {"localhost:80", "127.3.0.1:80", "\"[::1]:80\"", "unix:/run/b"}) {
    const LoadedConfig loaded = LoadConfig(
        "listen: " + std::string(listen) +
            "\ntrusted_proxies: [10.0.0.0/8]\n"
            "identity: {subject: [{header: X-User, from: trusted_proxies}, peer_address]}\n",
        "brim.yaml");
    EXPECT_THAT(Told(loaded), IsEmpty()) << listen;
  }
}

TEST(LoadConfigTest, ShowsTheLineWithACaret) {
  const LoadedConfig loaded =
      LoadConfig("tiers:\n  free: [5 per minute]\n  limts: 5\nlimts: 1\n", "brim.yaml");
  ASSERT_EQ(loaded.issues.size(), 2u);
  EXPECT_EQ(
      FormatIssue(loaded.issues[1], loaded.text),
      "brim.yaml:4:1: error: there is no setting \"limts\" (limts)\n"
      "   4 | limts: 1\n"
      "     | ^~~~~\n"
      "     = known here: listen, api_token_file, log, drain_delay, headers, deny, admin, store, "
      "trusted_proxies, tiers, default_tier, identity or gateway\n");
}

TEST(LoadConfigTest, ShownLinesHoldNoPasswordAndNoControls) {
  const LoadedConfig loaded =
      LoadConfig("store: {url: \"redis://me:geheim@h\", nodes: \"\\e[1m\x1b[2m\"}\n", "brim.yaml");
  ASSERT_FALSE(loaded.ok());
  for (const ConfigIssue& issue : loaded.issues) {
    const std::string shown = FormatIssue(issue, loaded.text);
    EXPECT_THAT(shown, testing::Not(HasSubstr("geheim")));
    EXPECT_THAT(shown, testing::Not(HasSubstr("\x1b")));
  }
}

TEST(LoadConfigTest, IssuesAreJsonToo) {
  const LoadedConfig loaded = LoadConfig("deny: no\n", "b.yaml");
  EXPECT_EQ(IssuesAsJson(loaded.issues),
            R"([{"severity": "error", "code": "", "file": "b.yaml", "line": 1, "column": 7, )"
            R"("field": "deny", "message": "\"no\" is not known here: write message, object or )"
            R"(problem", "hint": ""}])");
}

// A few lines that would stand for billions of values.
TEST(LoadConfigTest, ABombOfAliasesIsRefused) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name <= 'k'; ++name) {
    text += std::string(1, name) + ": &" + name + " [";
    for (int i = 0; i < 10; ++i)
      text += std::string(i == 0 ? "*" : ", *") + static_cast<char>(name - 1);
    text += "]\n";
  }
  EXPECT_THAT(Told(LoadConfig(text, "brim.yaml")),
              ElementsAre(HasSubstr("more than 500000 values")));
  EXPECT_THAT(Told(LoadConfig("a: &a [*a]\n", "brim.yaml")),
              ElementsAre(HasSubstr("1:8 : this is not YAML: the alias stands inside")));
}

TEST(LoadConfigTest, DepthIsBounded) {
  const std::string deep(limits::kMaxYamlDepth + 1, '[');
  EXPECT_THAT(Told(LoadConfig(deep, "brim.yaml")), ElementsAre(HasSubstr("nested deeper than 32")));
  EXPECT_FALSE(LoadConfig(std::string(200'000, '['), "brim.yaml").ok());
}

TEST(LoadConfigTest, NoMoreIssuesAreToldThanOneReads) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "unknown" + std::to_string(i) + ": 1\n";
  const LoadedConfig loaded = LoadConfig(text, "brim.yaml");
  EXPECT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.issues.size(), limits::kMaxConfigIssues);
}

TEST(LoadConfigTest, BytesThatAreNoTextAreTold) {
  EXPECT_THAT(Told(LoadConfig(std::string("deny: object\nx\0", 15), "brim.yaml")),
              ElementsAre(HasSubstr("2:2 : this is not YAML: a NUL byte")));
  EXPECT_THAT(Told(LoadConfig("deny: \xC3\xA4\xFF\n", "brim.yaml")),
              ElementsAre(HasSubstr("1:9 : this is not YAML: a byte that is no UTF-8")));
}

std::string ManyRoutes(int count) {
  std::string text = "gateway:\n  routes:\n";
  for (int i = 0; i < count; ++i) {
    const std::string name = "r" + std::to_string(i);
    text += "    - {name: " + name + ", path: /" + name +
            ", tiers: true, limits: [5 per hour], respond: {json: {}}}\n";
  }
  return text;
}

TEST(LoadConfigTest, TenThousandRulesLoadWithinASecond) {
  const std::string text = ManyRoutes(10'000);
  const std::clock_t begin = std::clock();  // CPU time: a busy machine is no slow loader
  const LoadedConfig loaded = LoadConfig(text, "brim.yaml");
  [[maybe_unused]] const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.policy->routes.size(), 10'000u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(took, 1.0);
#endif
}

TEST(LoadConfigTest, TooManyRulesAreRefused) {
  std::string text = "gateway: {routes: [";
  for (std::size_t i = 0; i <= limits::kMaxRules; ++i) text += "{},";
  EXPECT_THAT(Told(LoadConfig(text + "]}", "brim.yaml")),
              ElementsAre(HasSubstr("gateway.routes: more than 20000 tiers and routes")));
}

class ConfigFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return (std::filesystem::path(testing::TempDir()) / name).string();
  }
};

TEST_F(ConfigFileTest, IsReadWithItsName) {
  const std::string path = Path("config_file_test.yaml");
  std::ofstream(path) << "deny: no\n";
  const LoadedConfig loaded = LoadConfigFile(path);
  ASSERT_EQ(loaded.issues.size(), 1u);
  EXPECT_EQ(loaded.issues[0].file, path);
  std::ofstream(path) << std::string(limits::kMaxConfigBytes, '#');
  EXPECT_TRUE(LoadConfigFile(path).ok());
  std::ofstream(path) << std::string(limits::kMaxConfigBytes + 1, '#');
  EXPECT_THAT(Told(LoadConfigFile(path)), ElementsAre("0:0 : larger than 1048576 bytes"));
}

TEST_F(ConfigFileTest, ThatCannotBeReadIsAnIssue) {
  EXPECT_THAT(Told(LoadConfigFile(Path("no such file.yaml"))),
              ElementsAre("0:0 : cannot be read: No such file or directory"));
  EXPECT_THAT(Told(LoadConfigFile(testing::TempDir())),
              ElementsAre("0:0 : cannot be read: Is a directory"));
}

}  // namespace
}  // namespace brim

// Files that are refused: each mistake is told at its place, with what to write instead.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/config/config_testing.h"

namespace brim {
namespace {

using testing::HasSubstr;

struct Bad {
  const char* name;
  const char* text;
  std::vector<std::string> told;  // each a part of one issue, in order
};

class BadConfigTest : public testing::TestWithParam<Bad> {};

TEST_P(BadConfigTest, IsRefusedAndToldWhere) {
  const LoadedConfig loaded = LoadConfig(GetParam().text, "brim.yaml");
  EXPECT_FALSE(loaded.ok());
  const std::vector<std::string> told = Told(loaded);
  ASSERT_EQ(told.size(), GetParam().told.size()) << testing::PrintToString(told);
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_THAT(told[i], HasSubstr(GetParam().told[i]));
}

const Bad kBad[] = {
    {"UnknownSetting",
     "listen: 127.0.0.1:80\ntierz: {}\n",
     {"2:1 tierz: there is no setting \"tierz\" | did you mean \"tiers\"?"}},
    {"UnknownSettingInside",
     "store: {urll: memory://}\n",
     {"1:9 store.urll: there is no setting \"urll\" | did you mean \"url\"?"}},
    {"UnknownSettingWithoutANearOne",
     "admin: {zzzzzz: 1}\n",
     {"1:9 admin.zzzzzz: there is no setting \"zzzzzz\" | known here: listen or token_file"}},
    {"TwiceTheSame",
     "deny: object\nlisten: 127.0.0.1:80\ndeny: object\n",
     {"3:1 deny: \"deny\" stands here twice | the first is in line 1"}},
    {"TwiceATier",
     "tiers:\n  free: [1/s]\n  free: [2/s]\n",
     {"3:3 tiers.free: \"free\" stands here twice"}},
    {"AllErrorsAtOnce",
     "deny: objekt\nstore:\n  nodes: 0\n  timeout: 1h\ntiers:\n  free: [5 per minit]\n",
     {"1:7 deny: \"objekt\" is not known here: write message, object or problem | did you mean "
      "\"object\"?",
      "3:10 store.nodes: \"0\" is no whole number from 1 to 10000",
      "4:12 store.timeout: \"1h\" is no duration from 1 ms to 10000 ms | write it like 50ms or 2s",
      "6:10 tiers.free[0]: "}},
    {"NoYaml", "tiers: [5 per minute\n", {"this is not YAML: "}},
    {"Tag", "listen: !!str 127.0.0.1:80\n", {"1:9 : this is not YAML: tags are not supported"}},
    {"TwoDocuments", "listen: 127.0.0.1:80\n---\ndeny: object\n", {"a second document"}},
    {"List", "- listen\n", {"1:1 : here stands a list, expected settings, each as `name: value`"}},
    {"MissingValue", "listen:\n", {"listen: the value is missing"}},
    {"WrongKind", "listen: {a: b}\n", {"1:9 listen: here stands a map, expected a word"}},
    {"Yes",
     "store: {hash_tag: yes}\n",
     {"1:19 store.hash_tag: \"yes\" is not known here: write false or true"}},
    {"Prefix", "store: {key_prefix: \"a b\"}\n", {"1:21 store.key_prefix: "}},
    {"Memory",
     "store: {max_memory: 1KiB}\n",
     {"1:21 store.max_memory: \"1KiB\" is no size from 1048576 to 1099511627776 bytes | write it "
      "like 256MiB or 1GiB"}},
    {"Network",
     "trusted_proxies: [10.0.0.0/8, 10.0.0.1/8, 10.0.0.0/33, example.com]\n",
     {"1:31 trusted_proxies[1]: \"10.0.0.1/8\" is no network | no bit may be set behind",
      "1:43 trusted_proxies[2]: \"10.0.0.0/33\" is no network",
      "1:56 trusted_proxies[3]: \"example.com\" is no network | write it like 10.0.0.0/8"}},
    {"NoFreeTier",
     "tiers: {basic: [1/s]}\n",
     {"1:1 default_tier: it is missing, and no tier is called free | name one of your tiers"}},
    {"UnknownDefaultTier",
     "default_tier: por\n",
     {"1:15 default_tier: there is no tier \"por\" | did you mean \"pro\"?"}},
    {"NoTiers", "tiers: {}\n", {"1:8 tiers: there is no tier"}},
    {"TierName", "tiers: {\"a b\": [1/s], free: [1/s]}\n", {"1:9 tiers.a b: \"a b\" is no name"}},
    {"TierWithoutLimits",
     "tiers: {free: {per_route: true}}\n",
     {"1:15 tiers.free: the tier has no limits | add limits"}},
    {"SameKeyTwice",
     "tiers: {free: [5 per minute, 6 per minute]}\n",
     {"1:15 tiers.free: two limits would share one key; the second is 6 per minute | keep one"}},
    {"ItemWithoutLimit",
     "tiers: {free: [{subject: site}]}\n",
     {"1:16 tiers.free[0]: the limit itself is missing"}},
    {"CostThatNeverFits",
     "tiers: {free: [{limit: 5/s, cost: 6}]}\n",
     {"1:16 tiers.free[0].cost: a cost of 6 never fits 5 per second"}},
    {"CostOfALog",
     "tiers: {free: [{limit: 500/s, cost: 65}]}\n",
     {"tiers.free[0].cost: a sliding_window takes a cost of at most 64 | add the word weighted"}},
    {"PlainKeyOfALog",
     "tiers: {free: [{limit: 5/s, key: plain}]}\n",
     {"1:24 tiers.free[0]: a plain key is for a fixed_window only"}},
    {"PlainKeyWithScope",
     "tiers: {free: [{limit: 5/s fixed_window, key: plain, scope: a}]}\n",
     {"1:16 tiers.free[0]: a plain key has no room for a scope"}},
    {"TierHeaderFromAnybody",
     "identity: {tier: [{header: X-Tier}]}\n",
     {"1:19 identity.tier[0]: anybody could choose a tier by this header | add from: "
      "trusted_proxies"}},
    {"FromNobody",
     "identity: {tier: [{header: X-Tier, from: trusted_proxies}]}\n",
     {"1:42 identity.tier[0].from: there are no trusted proxies | list them in trusted_proxies"}},
    {"TierOfNoKey",
     "identity: {tier: [{api_key: tier}]}\n",
     {"1:29 identity.tier[0].api_key: no source of the subject looks up an API key"}},
    {"KeyWithoutTable",
     "identity: {subject: [{api_key: {header: X-Key}}]}\n",
     {"identity.subject[0].api_key: the table of keys is missing | add table: keys.yaml"}},
    {"UnknownSource",
     "identity: {subject: [peer_adress]}\n",
     {"1:22 identity.subject[0]: \"peer_adress\" is not known here: write peer_address or "
      "anonymous | did you mean \"peer_address\"?"}},
    {"NoSource", "identity: {subject: []}\n", {"identity.subject: there is no source"}},
    {"ForwardedForIsNoIdentity",
     "identity: {subject: [{header: x-forwarded-for}]}\n",
     {"identity.subject[0].header: what a client writes into \"x-forwarded-for\" is no identity | "
      "use peer_address"}},
    {"HeaderName",
     "identity: {subject: [{header: \"X Y\"}]}\n",
     {"1:31 identity.subject[0].header: \"X Y\" is no name of a header"}},
    {"Upstream",
     "gateway: {routes: [{name: a, path: /a/, limits: [1/s], upstream: \"http://127.0.0.1\"}]}\n",
     {"gateway.routes[0].upstream: brim does not forward to an upstream yet: that comes with the "
      "proxy | until then"}},
    {"RouteLacksAll",
     "gateway: {routes: [{}]}\n",
     {"the route has no limits", "the route has no name", "the route has no path",
      "the route has no respond"}},
    {"Path",
     "gateway: {routes: [{name: a, path: api, limits: [], respond: {json: 1}}]}\n",
     {"1:36 gateway.routes[0].path: \"api\" is no path"}},
    {"NameOfARouteTwice",
     "gateway:\n  routes:\n    - {name: a, path: /a, limits: [], respond: {json: 1}}\n"
     "    - {name: a, path: /b, limits: [], respond: {json: 1}}\n",
     {"4:7 gateway.routes[1].name: \"a\" is the name of another route or tier"}},
    {"PathOfARouteTwice",
     "gateway:\n  routes:\n    - {name: a, path: /a, limits: [], respond: {json: 1}}\n"
     "    - {name: b, path: /a, limits: [], respond: {json: 1}}\n",
     {"4:7 gateway.routes[1].path: \"/a\" is the path of another route"}},
    {"NameOfARouteIsATier",
     "gateway: {routes: [{name: pro, path: /a, limits: [], respond: {json: 1}}]}\n",
     {"gateway.routes[0].name: \"pro\" is the name of another route or tier"}},
    {"RouteAndTierShareAKey",
     "gateway: {routes: [{name: a, path: /a, tiers: true, limits: [{limit: 9/day, scope: \"\"}],"
     " respond: {json: 1}}]}\n",
     {"gateway.routes[0].limits: 9 per day would share its key with a limit of the tier"}},
    {"RouteAndPerRouteTierShareAKey",
     "tiers: {free: {limits: [5/s], per_route: true}}\n"
     "gateway: {routes: [{name: a, path: /a, tiers: true, limits: [9/s], respond: {json: 1}}]}\n",
     {"gateway.routes[0].limits: 9 per second would share its key with a limit of the tier "
      "\"free\""}},
    {"OneAddressTwice",
     "listen: 127.0.0.1:80\nadmin: {listen: 127.0.0.1:80}\n",
     {"1:1 admin.listen: it is the address of listen, too"}},
};

INSTANTIATE_TEST_SUITE_P(All, BadConfigTest, testing::ValuesIn(kBad),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace brim

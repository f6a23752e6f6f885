#include "policy/config/load_api_keys.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/config/config_testing.h"

namespace brim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const PolicySet kTiers = DefaultPolicySet();
constexpr char kSecret[] = "000102030405060708090a0b0c0d0e0f";
// printf %s sk-alice-1 | openssl dgst -sha256 -mac HMAC -macopt hexkey:$secret
constexpr char kHash[] = "87e6062715f2a0e5ba88735c045d6c5977af8119ba79a2746301f7cd3d137d6b";

std::string Entry(const std::string& more, const std::string& hash = kHash) {
  return "  - {subject: alice, " + more + "hash: " + hash + "}\n";
}

LoadedApiKeys Load(const std::string& keys, const std::string& secret = kSecret) {
  return LoadApiKeys("secret: " + secret + "\nkeys:\n" + keys, "keys.yaml", &kTiers);
}

std::vector<std::string> Messages(const LoadedApiKeys& loaded) {
  std::vector<std::string> messages;
  for (const ConfigIssue& issue : loaded.issues) {
    messages.push_back(std::to_string(issue.place.line) + " " + issue.field + ": " + issue.message);
  }
  return messages;
}

TEST(ApiKeysTest, AKeyIsFoundByItsHash) {
  const LoadedApiKeys loaded = Load(Entry("tier: pro, "));
  ASSERT_NE(loaded.table, nullptr) << testing::PrintToString(Messages(loaded));
  const ApiKeyEntry* const entry = loaded.table->Find("sk-alice-1");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->subject, "alice");
  EXPECT_EQ(entry->tier, "pro");
  for (const std::string_view other : {"sk-alice-2", "sk-alice-", "", kHash}) {
    EXPECT_EQ(loaded.table->Find(other), nullptr) << other;
  }
}

TEST(ApiKeysTest, WhatIsWrittenIsRead) {
  const std::string secret = "16 bytes or more: \xff\x00 too";
  const ApiKeyTable table(secret);
  const std::string text = ApiKeysHead(secret) +
                           ApiKeyLine({.subject = "a \"b\": c", .tier = ""}, *table.Hash("1")) +
                           ApiKeyLine({.subject = "d", .tier = "any"}, *table.Hash("2"));
  const LoadedApiKeys loaded = LoadApiKeys(text, "keys.yaml", nullptr);
  ASSERT_NE(loaded.table, nullptr) << testing::PrintToString(Messages(loaded));
  ASSERT_NE(loaded.table->Find("1"), nullptr);
  EXPECT_EQ(loaded.table->Find("1")->subject, "a \"b\": c");
  EXPECT_EQ(loaded.table->Find("2")->tier, "any");
  EXPECT_FALSE(LoadApiKeys(text, "keys.yaml", &kTiers).issues.empty());
}

TEST(ApiKeysTest, AnotherSecretKnowsNoneOfTheKeys) {
  const LoadedApiKeys loaded = Load(Entry(""), std::string(kSecret) + "10");
  ASSERT_NE(loaded.table, nullptr);
  EXPECT_EQ(loaded.table->size(), 1u);
  EXPECT_EQ(loaded.table->Find("sk-alice-1"), nullptr);
}

TEST(ApiKeysTest, BadTablesAreRefusedWithoutTellingTheirSecrets) {
  const struct {
    LoadedApiKeys loaded;
    const char* told;
  } kCases[] = {
      {LoadApiKeys("keys: []\n", "k", &kTiers), "1 : the secret is missing"},
      {Load("", "000102"), "1 secret: this is no secret: it has 32 hex digits or more"},
      {Load("", std::string(31, '0') + "x"), "1 secret: this is no secret"},
      {Load(Entry("tier: gold, ")), "3 keys[0].tier: there is no tier \"gold\""},
      {Load(Entry("", "0123")), "3 keys[0].hash: this is no hash"},
      {Load("  - {subject: alice}\n"), "3 keys[0]: an entry needs a subject and a hash"},
      {Load(Entry("") + Entry("")), "4 keys[1]: this key stands in the table twice"},
      {Load("  - {subject: alice, key: sk-1}\n"), "3 keys[0].key: there is no setting \"key\""},
  };
  for (const auto& [loaded, told] : kCases) {
    EXPECT_EQ(loaded.table, nullptr);
    EXPECT_THAT(Messages(loaded), ElementsAre(HasSubstr(told)));
    EXPECT_THAT(Messages(loaded)[0], Not(HasSubstr(kSecret)));
  }
}

class KeyTableFileTest : public testing::Test {
 protected:
  KeyTableFileTest() : folder_(std::filesystem::path(testing::TempDir()) / "brim_key_table_test") {
    std::filesystem::create_directory(folder_);
  }
  ~KeyTableFileTest() override { std::filesystem::remove_all(folder_); }
  void Write(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  LoadedConfig Load() { return LoadConfigFile((folder_ / "brim.yaml").string()); }

  const std::filesystem::path folder_;
};

TEST_F(KeyTableFileTest, LiesBesideTheConfiguration) {
  Write("brim.yaml", "identity: {subject: [{api_key: {header: X-Key, table: keys.yaml}}]}\n");
  EXPECT_THAT(Told(Load()), ElementsAre(HasSubstr("0:0 : cannot be read: No such file")));
  Write("keys.yaml", "secret: " + std::string(kSecret) + "\nkeys:\n" + Entry(""));
  const LoadedConfig loaded = Load();
  ASSERT_TRUE(loaded.ok());
  EXPECT_NE(loaded.policy->identity.api_keys->Find("sk-alice-1"), nullptr);
}

TEST_F(KeyTableFileTest, ItsLinesAreNotShown) {
  Write("brim.yaml", "identity: {subject: [{api_key: {header: X-Key, table: keys.yaml}}]}\n");
  Write("keys.yaml", "secret: " + std::string(kSecret) + "\nkeys: 5\n");
  const LoadedConfig loaded = Load();
  EXPECT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.Format(), HasSubstr("keys.yaml:2:7: error: here stands a word"));
  Write("keys.yaml", "secret: &geheim\n");
  EXPECT_THAT(Load().Format(), Not(HasSubstr("geheim")));
}

}  // namespace
}  // namespace brim

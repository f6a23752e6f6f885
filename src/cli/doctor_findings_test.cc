#include "cli/doctor_findings.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace brim::cli {
namespace {

using namespace std::chrono_literals;

// A set-up in which nothing is to be mended.
StoreFacts Good() {
  StoreFacts facts;
  facts.check_cost = 20us;
  NodeFacts node;
  node.address = "10.0.0.1:6379";
  node.info = {
      {"redis_version", "7.0.15"},        {"role", "master"},       {"maxmemory", "1073741824"},
      {"maxmemory_policy", "noeviction"}, {"aof_enabled", "1"},     {"aof_last_write_status", "ok"},
      {"rdb_last_bgsave_status", "ok"},   {"connected_slaves", "0"}};
  node.config = {{"lazyfree-lazy-expire", "yes"}, {"min-replicas-to-write", "0"}, {"save", ""}};
  node.round_trip = 100us;
  node.clock_offset = 5ms;
  facts.nodes.push_back(node);
  return facts;
}

std::vector<std::string> Names(const StoreFacts& facts) {
  std::vector<std::string> names;
  for (const Finding& finding : FindingsOf(facts)) {
    EXPECT_FALSE(finding.text.empty() || finding.remedy.empty()) << finding.name;
    names.push_back(finding.name);
  }
  return names;
}

using Strings = std::vector<std::string>;

TEST(DoctorFindingsTest, AGoodSetUpHasNone) { EXPECT_EQ(Names(Good()), Strings{}); }

TEST(DoctorFindingsTest, EachFaultIsFoundByItself) {
  const auto with = [](const char* field, const char* value) {
    StoreFacts facts = Good();
    facts.nodes[0].info[field] = value;
    return Names(facts);
  };
  EXPECT_EQ(with("redis_version", "6.2.7"), Strings{"version"});
  EXPECT_EQ(with("redis_version", "10.1.0"), Strings{});
  EXPECT_EQ(with("role", "slave"), Strings{"role"});
  EXPECT_EQ(with("maxmemory", "0"), Strings{"maxmemory"});
  EXPECT_EQ(with("maxmemory_policy", "allkeys-lru"), Strings{"eviction"});
  EXPECT_EQ(with("aof_enabled", "0"), Strings{"persistence"});
  EXPECT_EQ(with("rdb_last_bgsave_status", "err"), Strings{"disk"});
  EXPECT_EQ(with("aof_last_write_status", "err"), Strings{"disk"});
  EXPECT_EQ(with("connected_slaves", "1"), Strings{"min-replicas"});

  StoreFacts facts = Good();
  facts.nodes[0].config["lazyfree-lazy-expire"] = "no";
  EXPECT_EQ(Names(facts), Strings{"lazyfree-lazy-expire"});
  facts = Good();
  facts.nodes[0].info["aof_enabled"] = "0";
  facts.nodes[0].config["save"] = "3600 1";
  EXPECT_EQ(Names(facts), Strings{});
  facts = Good();
  facts.nodes[0].clock_offset = -2s;
  EXPECT_EQ(Names(facts), Strings{"clock"});
  facts.nodes[0].clock_offset = std::nullopt;
  EXPECT_EQ(Names(facts), Strings{});
  facts.nodes[0].round_trip = 11ms;
  EXPECT_EQ(Names(facts), Strings{"round-trip"});
  facts = Good();
  facts.check_cost = 1ms;
  EXPECT_EQ(Names(facts), Strings{"script-cost"});
  facts = Good();
  facts.check_error = Error{ErrorCode::kSetup, "no zadd", ""};
  EXPECT_EQ(Names(facts), Strings{"check"});
  facts = Good();
  facts.topology = Topology::kCluster;
  facts.nodes[0].cluster = {{"cluster_state", "fail"}, {"cluster_slots_ok", "10922"}};
  EXPECT_EQ(Names(facts), Strings{"slots"});
}

TEST(DoctorFindingsTest, WhatMayNotBeAskedIsNoOtherFinding) {
  StoreFacts facts = Good();
  facts.nodes[0].info.clear();
  facts.nodes[0].config.clear();
  EXPECT_EQ(Names(facts), Strings{"rights"});
}

TEST(DoctorFindingsTest, TheBoundIsThatOfTheSetUp) {
  const auto tells = [](const StoreFacts& facts, const char* what) {
    const auto bounds = BoundsOf(facts);
    return std::ranges::any_of(
        bounds, [what](const std::string& bound) { return bound.starts_with(what); });
  };
  StoreFacts facts = Good();
  EXPECT_TRUE(tells(facts, "while the store answers: none"));
  EXPECT_TRUE(tells(facts, "while the store is away"));
  EXPECT_FALSE(tells(facts, "at a failover"));
  EXPECT_FALSE(tells(facts, "at a restart"));
  facts.nodes[0].info["aof_enabled"] = "0";
  EXPECT_TRUE(tells(facts, "at a restart"));
  facts.nodes[0].info["connected_slaves"] = "1";
  EXPECT_TRUE(tells(facts, "at a failover"));
  facts = Good();
  facts.topology = Topology::kSentinel;
  EXPECT_TRUE(tells(facts, "at a failover"));
}

}  // namespace
}  // namespace brim::cli

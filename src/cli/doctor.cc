// brim doctor: whether a store is set up well, and what to do where it is not.
#include <cstdio>
#include <string>
#include <variant>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/doctor_facts.h"
#include "cli/doctor_findings.h"
#include "cli/subject.h"
#include "store/store_url.h"

namespace brim::cli {
namespace {

constexpr int kFindings = 1;

const char* NameOf(Topology topology) {
  switch (topology) {
    case Topology::kSingle:
      return "single";
    case Topology::kSentinel:
      return "sentinel";
    case Topology::kCluster:
      return "cluster";
  }
  return "";
}

std::string FieldOf(const NodeFacts& node, const char* name) {
  const auto found = node.info.find(name);
  return found == node.info.end() ? "?" : found->second;
}

std::string VersionOf(const NodeFacts& node) {
  const auto valkey = node.info.find("valkey_version");
  if (valkey != node.info.end()) return "Valkey " + valkey->second;
  return "Redis " + FieldOf(node, "redis_version");
}

void PrintText(const StoreFacts& facts, const std::vector<Finding>& findings,
               const std::vector<std::string>& bounds) {
  std::printf("topology  %s\n", NameOf(facts.topology));
  for (const NodeFacts& node : facts.nodes) {
    std::printf("node      %s  %s, role %s, round trip %lld us\n", node.address.c_str(),
                VersionOf(node).c_str(), FieldOf(node, "role").c_str(),
                static_cast<long long>(node.round_trip.count()));
  }
  if (facts.check_cost > Micros{0}) {
    std::printf("a check   %lld us with two windows, among many others\n",
                static_cast<long long>(facts.check_cost.count()));
  }
  std::puts("\nHow far a limit may be passed:");
  for (const std::string& bound : bounds) std::printf("  - %s\n", bound.c_str());
  if (findings.empty()) {
    std::puts("\nNothing to mend.");
    return;
  }
  std::printf("\n%zu to look at:\n", findings.size());
  for (const Finding& finding : findings) {
    const std::string where = finding.node.empty() ? "" : finding.node + ": ";
    std::printf("  %s: %s%s\n    -> %s\n", finding.name.c_str(), where.c_str(),
                finding.text.c_str(), finding.remedy.c_str());
  }
}

void WriteNode(const NodeFacts& node, JsonWriter& json) {
  json.BeginObject().Key("address").String(node.address);
  json.Key("version").String(VersionOf(node)).Key("role").String(FieldOf(node, "role"));
  json.Key("maxmemory").String(FieldOf(node, "maxmemory"));
  json.Key("maxmemory_policy").String(FieldOf(node, "maxmemory_policy"));
  json.Key("round_trip_us").Int(node.round_trip.count());
  json.Key("clock_offset_us");
  node.clock_offset ? json.Int(node.clock_offset->count()) : json.Null();
  json.EndObject();
}

void PrintJson(const StoreFacts& facts, const std::vector<Finding>& findings,
               const std::vector<std::string>& bounds) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("ok").Bool(findings.empty());
  json.Key("topology").String(NameOf(facts.topology));
  json.Key("check_us").Int(facts.check_cost.count());
  json.Key("nodes").BeginArray();
  for (const NodeFacts& node : facts.nodes) WriteNode(node, json);
  json.EndArray().Key("findings").BeginArray();
  for (const Finding& finding : findings) {
    json.BeginObject().Key("name").String(finding.name).Key("node").String(finding.node);
    json.Key("text").String(finding.text).Key("remedy").String(finding.remedy).EndObject();
  }
  json.EndArray().Key("over_admission").BeginArray();
  for (const std::string& bound : bounds) json.String(bound);
  json.EndArray().EndObject();
  std::puts(out.c_str());
}

int RunOnMemory(bool json) {
  const char* const text =
      "each process counts by itself: with n processes up to n limits are admitted";
  if (json) {
    std::printf(R"({"ok": true, "topology": "memory", "findings": [], "over_admission": ["%s"]})"
                "\n",
                text);
  } else {
    std::printf("memory:// is in this process, and needs nothing; %s\n", text);
  }
  return kOk;
}

}  // namespace

int RunDoctor(const DoctorArgs& args) {
  const auto parsed = ParseStoreUrl(args.store.url);
  if (!parsed) return FailUsage("doctor", parsed.error());
  const auto* options = std::get_if<redis::ClientOptions>(&*parsed);
  if (options == nullptr) return RunOnMemory(args.json);
  WarnOfPassword(args.store);
  const auto facts = AskStore(args.store.url, *options);
  if (!facts) {
    std::fprintf(stderr, "brim doctor: %s\n", facts.error().message.c_str());
    return kStoreFailed;
  }
  const auto findings = FindingsOf(*facts);
  const auto bounds = BoundsOf(*facts);
  args.json ? PrintJson(*facts, findings, bounds) : PrintText(*facts, findings, bounds);
  return findings.empty() ? kOk : kFindings;
}

}  // namespace brim::cli

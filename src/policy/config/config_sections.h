// The parts of the file, each read into its part of the PolicySet. What is wrong is told to the
// reader; the part then keeps what could be read, so that the parts behind it find more errors.
#pragma once

#include <string_view>
#include <vector>

#include "policy/config/config_reader.h"
#include "policy/config/load_config.h"
#include "policy/config/yaml_tree.h"
#include "policy/policy_set.h"

namespace brim {

void ReadStore(ConfigReader& reader, const YamlNode& node, const ConfigChecks& checks,
               StorePolicy& store);
void ReadListen(ConfigReader& reader, const YamlNode& node, const ConfigChecks& checks,
                std::string& address);
void ReadTrustedProxies(ConfigReader& reader, const YamlNode& node, PolicySet& set);
void ReadTiers(ConfigReader& reader, const YamlNode& node, PolicySet& set);
// REQUIRES: trusted proxies are read.
void ReadIdentity(ConfigReader& reader, const YamlNode& node, PolicySet& set);
// REQUIRES: tiers and the deny form are read.
void ReadGateway(ConfigReader& reader, const YamlNode& node, const ConfigChecks& checks,
                 PolicySet& set);
void ReadDeny(ConfigReader& reader, const YamlNode& node, DenyForm& deny);
void ReadMode(ConfigReader& reader, const YamlNode& node, Mode& mode);

// "5 per minute", "5 per minute; 100 per day", or a list of such and of maps
// {limit, subject, scope, cost, count, key, mode}. In the order given.
std::vector<PolicyLimit> ReadLimits(ConfigReader& reader, const YamlNode& node);

// Told: two of the limits would share one key when the request's scope is `scope`.
void CheckKeys(ConfigReader& reader, const YamlNode& node, const std::vector<PolicyLimit>& limits,
               std::string_view scope);
// The key that the limit of a subject would have, as far as it tells limits apart.
std::string KeyOf(const PolicyLimit& limit, std::string_view scope);

// 1 ... kMaxNameBytes of letters, digits, '_', '-' and '.': also a label and part of a URL.
bool CheckName(ConfigReader& reader, const YamlNode& node, std::string_view name);

// The JSON text of a YAML value.
std::string ToJson(const YamlNode& node);

// Adds a warning for each setting with which clients could pass as others.
void WarnOfSpoofing(ConfigReader& reader, const YamlNode& root, const PolicySet& set);

}  // namespace brim

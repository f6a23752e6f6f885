#include "policy/config/load_config.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <variant>

#include "base/limits.h"
#include "policy/config/config_sections.h"
#include "policy/config/load_api_keys.h"
#include "policy/key.h"

namespace brim {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kOnFailure[] = {"local", "open", "closed"};
constexpr std::string_view kLogFormats[] = {"text", "json"};
constexpr std::string_view kFamilies[] = {"x-ratelimit", "ietf"};
constexpr std::int64_t kMaxNodes = 10'000;
constexpr std::int64_t kMinMemory = 1 << 20;
constexpr std::int64_t kMaxMemory = std::int64_t{1} << 40;

ConfigReader::ReadNode Into(ConfigReader& reader, std::string& text) {
  return [&reader, &text](const YamlNode& value) { text = reader.Text(value).value_or(text); };
}

void ReadHeaders(ConfigReader& reader, const YamlNode& node, HeaderFamilies& families) {
  families = {.x_ratelimit = false, .ietf = false};
  reader.List(node, "families like `[x-ratelimit, ietf]`", [&](const YamlNode& item) {
    if (const auto family = reader.Word(item, kFamilies)) {
      (*family == 0 ? families.x_ratelimit : families.ietf) = true;
    }
  });
}

void ReadDefaultTier(ConfigReader& reader, const YamlNode& node, PolicySet& set) {
  const auto name = reader.Text(node);
  if (!name) return;
  set.default_tier = *name;
  if (set.tiers.contains(*name)) return;
  std::vector<std::string_view> known;
  for (const auto& [tier, unused] : set.tiers) known.push_back(tier);
  reader.Error(node, "there is no tier " + Quoted(*name), Meant(*name, known));
}

void RefuseOneAddressTwice(ConfigReader& reader, const YamlNode& root, const PolicySet& set) {
  const auto same = [](const std::string& a, const std::string& b) {
    return !a.empty() && a == b && !a.ends_with(":0");  // port 0 takes a free one each time
  };
  if (same(set.listen, set.admin_listen)) {
    reader.ErrorIn(root, "admin.listen", "it is the address of listen, too",
                   "give each listener its own");
  }
  if (same(set.gateway_listen, set.listen) || same(set.gateway_listen, set.admin_listen)) {
    reader.ErrorIn(root, "gateway.listen", "it is the address of another listener, too",
                   "give each listener its own");
  }
}

// The parts that others build on come first, wherever they stand in the file.
void ReadRoot(ConfigReader& reader, const YamlNode& root, const ConfigChecks& checks,
              PolicySet& set) {
  const YamlNode* default_tier = nullptr;
  const YamlNode* identity = nullptr;
  const YamlNode* gateway = nullptr;
  const auto later = [](const YamlNode*& node) {
    return [&node](const YamlNode& value) { node = &value; };
  };
  reader.Map(
      root,
      {{"listen", [&](const YamlNode& value) { ReadListen(reader, value, checks, set.listen); }},
       {"api_token_file", Into(reader, set.api_token_file)},
       {"log",
        [&](const YamlNode& value) { set.log_json = reader.Word(value, kLogFormats) == 1u; }},
       {"drain_delay",
        [&](const YamlNode& value) {
          set.drain_delay = reader.Duration(value, 0ms, 60s).value_or(set.drain_delay);
        }},
       {"headers", [&](const YamlNode& value) { ReadHeaders(reader, value, set.headers); }},
       {"deny", [&](const YamlNode& value) { ReadDeny(reader, value, set.deny); }},
       {"admin",
        [&](const YamlNode& value) {
          reader.Map(value, {{"listen",
                              [&](const YamlNode& address) {
                                ReadListen(reader, address, checks, set.admin_listen);
                              }},
                             {"token_file", Into(reader, set.admin_token_file)}});
        }},
       {"store", [&](const YamlNode& value) { ReadStore(reader, value, checks, set.store); }},
       {"trusted_proxies", [&](const YamlNode& value) { ReadTrustedProxies(reader, value, set); }},
       {"tiers", [&](const YamlNode& value) { ReadTiers(reader, value, set); }},
       {"default_tier", later(default_tier)},
       {"identity", later(identity)},
       {"gateway", later(gateway)}});
  if (default_tier != nullptr) {
    reader.In("default_tier", [&] { ReadDefaultTier(reader, *default_tier, set); });
  } else if (!set.tiers.contains(set.default_tier) && !reader.failed()) {
    reader.ErrorIn(root, "default_tier", "it is missing, and no tier is called free",
                   "name one of your tiers: default_tier: " + set.tiers.begin()->first);
  }
  if (identity != nullptr) {
    reader.In("identity", [&] { ReadIdentity(reader, *identity, set); });
  }
  if (gateway != nullptr) {
    reader.In("gateway", [&] { ReadGateway(reader, *gateway, checks, set); });
  }
  RefuseOneAddressTwice(reader, root, set);
  WarnOfSpoofing(reader, root, set);
}

ConfigIssue WholeFile(const std::string& path, std::string what) {
  return {.severity = Severity::kError,
          .code = {},
          .file = path,
          .place = {},
          .field = {},
          .message = std::move(what),
          .hint = {}};
}

// The text of the file, or what is wrong with it.
std::variant<std::string, ConfigIssue> ReadText(const std::string& path, std::size_t most) {
  const auto unreadable = [&path] {
    return WholeFile(path, std::string("cannot be read: ") + std::strerror(errno));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) return unreadable();
  std::string text(most + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable();
  if (text.size() > most) {
    return WholeFile(path, "larger than " + std::to_string(most) + " bytes");
  }
  return text;
}

// Reads the table that the set names, if it names one.
void ReadApiKeys(PolicySet& set, std::vector<ConfigIssue>& issues) {
  if (set.identity.key_table.empty()) return;
  const std::string path = KeyTablePath(set);
  const auto text = ReadText(path, limits::kMaxKeyTableBytes);
  if (const auto* issue = std::get_if<ConfigIssue>(&text)) return issues.push_back(*issue);
  LoadedApiKeys loaded = LoadApiKeys(std::get<std::string>(text), path, &set);
  set.identity.api_keys = std::move(loaded.table);
  issues.insert(issues.end(), loaded.issues.begin(), loaded.issues.end());
}

// The set, or null if there are errors, which then are among the issues.
std::shared_ptr<PolicySet> ReadSet(const std::string& text, std::string_view file,
                                   const ConfigChecks& checks, std::vector<ConfigIssue>& issues) {
  ConfigReader reader{std::string(file)};
  auto set = std::make_shared<PolicySet>(DefaultPolicySet());
  const auto parsed = ParseYaml(text);
  if (const auto* error = std::get_if<YamlError>(&parsed)) {
    reader.Error({.place = error->place, .text = {}, .items = {}},
                 "this is not YAML: " + error->message);
  } else {
    ReadRoot(reader, std::get<YamlNode>(parsed), checks, *set);
  }
  issues = reader.Take();
  return reader.failed() ? nullptr : set;
}

}  // namespace

void ReadListen(ConfigReader& reader, const YamlNode& node, const ConfigChecks& checks,
                std::string& address) {
  const auto text = reader.Text(node);
  if (!text) return;
  address = *text;
  if (!checks.listen) return;
  if (const auto valid = checks.listen(*text); !valid) reader.Error(node, valid.error().message);
}

void ReadDeny(ConfigReader& reader, const YamlNode& node, DenyForm& deny) {
  constexpr std::string_view kForms[] = {"message", "object", "problem"};
  if (const auto form = reader.Word(node, kForms)) deny = *ParseDenyForm(kForms[*form]);
}

void ReadMode(ConfigReader& reader, const YamlNode& node, Mode& mode) {
  constexpr std::string_view kModes[] = {"enforce", "shadow", "off"};
  if (const auto word = reader.Word(node, kModes)) mode = *ParseMode(kModes[*word]);
}

void ReadStore(ConfigReader& reader, const YamlNode& node, const ConfigChecks& checks,
               StorePolicy& store) {
  reader.Map(node, {{"url",
                     [&](const YamlNode& value) {
                       const auto url = reader.Text(value);
                       if (!url) return;
                       store.url = *url;
                       if (!checks.store_url) return;
                       if (const auto valid = checks.store_url(*url); !valid) {
                         reader.Error(value, valid.error().message);
                       }
                     }},
                    {"timeout",
                     [&](const YamlNode& value) {
                       store.timeout = reader.Duration(value, 1ms, 10s).value_or(store.timeout);
                     }},
                    {"on_failure",
                     [&](const YamlNode& value) {
                       constexpr OnFailure kValues[] = {OnFailure::kLocal, OnFailure::kOpen,
                                                        OnFailure::kClosed};
                       if (const auto word = reader.Word(value, kOnFailure))
                         store.on_failure = kValues[*word];
                     }},
                    {"nodes",
                     [&](const YamlNode& value) {
                       store.nodes = reader.Int(value, 1, kMaxNodes).value_or(store.nodes);
                     }},
                    {"key_prefix",
                     [&](const YamlNode& value) {
                       store.key_prefix = reader.Text(value).value_or(store.key_prefix);
                       const auto valid = ValidateKeyOptions({.prefix = store.key_prefix});
                       if (!valid) reader.Error(value, valid.error().message);
                     }},
                    {"hash_tag",
                     [&](const YamlNode& value) {
                       store.hash_tag = reader.Bool(value).value_or(store.hash_tag);
                     }},
                    {"max_memory",
                     [&](const YamlNode& value) {
                       const auto bytes = reader.Bytes(value, kMinMemory, kMaxMemory);
                       if (bytes) store.max_memory = static_cast<std::size_t>(*bytes);
                     }},
                    {"password_file", Into(reader, store.password_file)}});
}

LoadedConfig LoadConfig(std::string text, std::string_view file, const ConfigChecks& checks) {
  LoadedConfig loaded;
  loaded.file = file;
  loaded.text = std::move(text);
  loaded.policy = ReadSet(loaded.text, file, checks, loaded.issues);
  return loaded;
}

LoadedConfig RefusedConfig(std::string_view file, std::string message) {
  LoadedConfig refused;
  refused.file = file;
  refused.issues.push_back(WholeFile(refused.file, std::move(message)));
  return refused;
}

std::string KeyTablePath(const PolicySet& set) {
  return (std::filesystem::path(set.file).parent_path() / set.identity.key_table).string();
}

LoadedConfig LoadConfigFile(const std::string& path, const ConfigChecks& checks) {
  auto text = ReadText(path, limits::kMaxConfigBytes);
  if (const auto* issue = std::get_if<ConfigIssue>(&text)) {
    return RefusedConfig(path, issue->message);
  }
  LoadedConfig loaded;
  loaded.file = path;
  loaded.text = std::get<std::string>(std::move(text));
  const auto set = ReadSet(loaded.text, path, checks, loaded.issues);
  if (set == nullptr) return loaded;
  const std::size_t warnings = loaded.issues.size();
  set->file = path;
  ReadApiKeys(*set, loaded.issues);
  if (loaded.issues.size() == warnings) loaded.policy = set;
  return loaded;
}

std::string LoadedConfig::Format() const {
  std::string out;
  // Only the file itself is shown in parts; the other one holds secrets.
  for (const ConfigIssue& issue : issues) out += FormatIssue(issue, issue.file == file ? text : "");
  return out;
}

}  // namespace brim

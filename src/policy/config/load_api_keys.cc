#include "policy/config/load_api_keys.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/json_writer.h"
#include "base/text.h"
#include "policy/config/config_reader.h"

namespace brim {
namespace {

std::optional<std::string> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) AppendHex(static_cast<unsigned char>(c), text);
  return text;
}

void ReadHash(ConfigReader& reader, const YamlNode& node, std::optional<ApiKeyHash>& hash) {
  const auto text = reader.Text(node);
  if (!text) return;
  const auto bytes = FromHex(*text);
  if (!bytes || bytes->size() != sizeof(ApiKeyHash)) {
    return reader.Error(node, "this is no hash: it has 64 hex digits",
                        "let `brim hash-key` make the entry");
  }
  std::copy(bytes->begin(), bytes->end(), hash.emplace().begin());
}

void ReadEntry(ConfigReader& reader, const YamlNode& node, const PolicySet* set,
               ApiKeyTable& table) {
  ApiKeyEntry entry;
  std::optional<ApiKeyHash> hash;
  reader.Map(
      node,
      {{"subject", [&](const YamlNode& value) { entry.subject = reader.Text(value).value_or(""); }},
       {"tier",
        [&](const YamlNode& value) {
          entry.tier = reader.Text(value).value_or("");
          if (entry.tier.empty() || set == nullptr) return;
          if (set->tiers.contains(entry.tier)) return;
          reader.Error(value, "there is no tier " + Quoted(entry.tier));
        }},
       {"hash", [&](const YamlNode& value) { ReadHash(reader, value, hash); }}});
  if (node.kind != YamlNode::Kind::kMap || reader.failed()) return;
  if (entry.subject.empty() || !hash) {
    return reader.Error(node, "an entry needs a subject and a hash",
                        "let `brim hash-key` make the entry");
  }
  if (!table.Add(*hash, std::move(entry))) {
    reader.Error(node, "this key stands in the table twice", "remove one");
  }
}

void ReadTable(ConfigReader& reader, const YamlNode& root, const PolicySet* set,
               std::optional<ApiKeyTable>& table) {
  const YamlNode* keys = nullptr;
  reader.Map(root, {{"secret",
                     [&](const YamlNode& value) {
                       const auto text = reader.Text(value);
                       if (!text) return;
                       const auto secret = FromHex(*text);
                       if (secret && secret->size() >= ApiKeyTable::kMinSecretBytes) {
                         table.emplace(*secret);
                       } else {
                         reader.Error(value, "this is no secret: it has 32 hex digits or more",
                                      "let `brim hash-key` make the table");
                       }
                     }},
                    {"keys", [&](const YamlNode& value) { keys = &value; }}});
  if (!table) {
    if (!reader.failed()) reader.Error(root, "the secret is missing");
    return;
  }
  if (keys == nullptr || keys->kind == YamlNode::Kind::kNull) return;
  reader.In("keys", [&] {
    reader.List(*keys, "entries like `{subject: alice, tier: pro, hash: ...}`",
                [&](const YamlNode& item) { ReadEntry(reader, item, set, *table); });
  });
}

}  // namespace

LoadedApiKeys LoadApiKeys(std::string_view text, std::string_view file, const PolicySet* set) {
  ConfigReader reader{std::string(file)};
  std::optional<ApiKeyTable> table;
  const auto parsed = ParseYaml(text);
  if (const auto* error = std::get_if<YamlError>(&parsed)) {
    reader.Error({.place = error->place, .text = {}, .items = {}},
                 "this is not YAML: " + error->message);
  } else {
    ReadTable(reader, std::get<YamlNode>(parsed), set, table);
  }
  LoadedApiKeys loaded;
  if (!reader.failed()) loaded.table = std::make_shared<const ApiKeyTable>(*std::move(table));
  loaded.issues = reader.Take();
  return loaded;
}

std::string ApiKeysHead(std::string_view secret) {
  return "secret: \"" + ToHex(secret) + "\"\nkeys:\n";
}

std::string ApiKeyLine(const ApiKeyEntry& entry, const ApiKeyHash& hash) {
  std::string line = "  - {subject: ";
  JsonWriter(line).String(entry.subject);  // a JSON string is a YAML string, too
  if (!entry.tier.empty()) {
    line += ", tier: ";
    JsonWriter(line).String(entry.tier);
  }
  const auto* const bytes = reinterpret_cast<const char*>(hash.data());
  return line + ", hash: \"" + ToHex({bytes, hash.size()}) + "\"}\n";
}

}  // namespace brim

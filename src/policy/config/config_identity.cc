#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "policy/config/config_sections.h"

namespace brim {
namespace {

constexpr std::string_view kSubjectWords[] = {"peer_address", "anonymous"};
constexpr std::string_view kTrustedProxies[] = {"trusted_proxies"};
constexpr std::string_view kProxyHeaders[] = {"X-Forwarded-For", "Forwarded"};
constexpr std::string_view kHowProxies[] = {"tier"};

// A name that HTTP allows.
bool IsHeaderName(std::string_view name) {
  return !name.empty() && name.size() <= limits::kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
         });
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [lower](char x, char y) { return lower(x) == lower(y); });
}

class IdentityReader {
 public:
  IdentityReader(ConfigReader& reader, PolicySet& set)
      : reader_(reader), set_(set), identity_(set.identity) {}

  void Read(const YamlNode& node) {
    const YamlNode* tier = nullptr;
    reader_.Map(node, {{"subject", [this](const YamlNode& value) { ReadSubject(value); }},
                       {"tier", [&](const YamlNode& value) { tier = &value; }},
                       {"ipv6_prefix",
                        [this](const YamlNode& value) {
                          identity_.ipv6_prefix = static_cast<int>(
                              reader_.Int(value, 32, 128).value_or(identity_.ipv6_prefix));
                        }},
                       {"proxy_header", [this](const YamlNode& value) {
                          if (reader_.Word(value, kProxyHeaders) == 1u) {
                            identity_.proxy_header = ProxyHeader::kForwarded;
                          }
                        }}});
    // Behind the subjects, as it may refer to their table.
    if (tier != nullptr) reader_.In("tier", [&] { ReadTier(*tier); });
  }

 private:
  void ReadSubject(const YamlNode& node) {
    identity_.subject.clear();
    reader_.List(node, "sources like `[{header: X-Client-Id}, peer_address]`",
                 [this](const YamlNode& item) { ReadSubjectSource(item); });
    if (node.kind == YamlNode::Kind::kList && node.items.empty()) {
      reader_.Error(node, "there is no source of a subject", "name one, like peer_address");
    }
  }

  void ReadSubjectSource(const YamlNode& item) {
    using Kind = SubjectSource::Kind;
    if (item.kind != YamlNode::Kind::kMap) {
      if (const auto word = reader_.Word(item, kSubjectWords)) {
        identity_.subject.push_back({*word == 0 ? Kind::kPeerAddress : Kind::kAnonymous});
      }
      return;
    }
    SubjectSource source{.kind = Kind::kHeader};
    reader_.Map(
        item,
        {{"header", [&](const YamlNode& value) { ReadHeader(value, source.header); }},
         {"from", [&](const YamlNode& value) { source.from_trusted_proxies = ReadFrom(value); }},
         {"api_key", [&](const YamlNode& value) {
            source.kind = Kind::kApiKey;
            ReadApiKey(value, source.header);
          }}});
    if (item.items.empty()) {
      return reader_.Error(item, "the source is empty", "write {header: X-Client-Id}");
    }
    if (source.kind == Kind::kApiKey && item.items.size() > 2) {
      return reader_.Error(item, "api_key stands alone in its source",
                           "make two sources of it, in their order");
    }
    if (!source.header.empty()) identity_.subject.push_back(std::move(source));
  }

  void ReadApiKey(const YamlNode& node, std::string& header) {
    std::string table;
    reader_.Map(node, {{"header", [&](const YamlNode& value) { ReadHeader(value, header); }},
                       {"table",
                        [&](const YamlNode& value) { table = reader_.Text(value).value_or(""); }}});
    if (node.kind != YamlNode::Kind::kMap) return;
    const auto has = [&node](std::string_view name) {
      for (std::size_t i = 0; i < node.items.size(); i += 2) {
        if (node.items[i].text == name) return true;
      }
      return false;
    };
    if (!has("header")) reader_.Error(node, "the header is missing", "add header: Authorization");
    if (!has("table")) {
      reader_.Error(node, "the table of keys is missing", "add table: keys.yaml");
    }
    if (!identity_.key_table.empty() && !table.empty() && table != identity_.key_table) {
      reader_.ErrorIn(node, "table", "there is another table, " + Quoted(identity_.key_table),
                      "keep all keys in one");
    }
    if (identity_.key_table.empty()) identity_.key_table = table;
  }

  void ReadTier(const YamlNode& node) {
    reader_.List(node, "sources like `[{api_key: tier}]`",
                 [this](const YamlNode& item) { ReadTierSource(item); });
  }

  void ReadTierSource(const YamlNode& item) {
    TierSource source{.kind = TierSource::Kind::kHeader};
    bool has_from = false;
    reader_.Map(item, {{"header", [&](const YamlNode& value) { ReadHeader(value, source.header); }},
                       {"from",
                        [&](const YamlNode& value) {
                          has_from = true;
                          ReadFrom(value);
                        }},
                       {"api_key", [&](const YamlNode& value) {
                          source.kind = TierSource::Kind::kApiKey;
                          reader_.Word(value, kHowProxies);
                          if (identity_.key_table.empty()) {
                            reader_.Error(
                                value, "no source of the subject looks up an API key",
                                "add {api_key: {header: Authorization, table: keys.yaml}} to "
                                "identity.subject");
                          }
                        }}});
    if (item.kind != YamlNode::Kind::kMap) return;
    if (item.items.empty()) {
      return reader_.Error(item, "the source is empty", "write {api_key: tier}");
    }
    if (source.kind == TierSource::Kind::kHeader) {
      if (!has_from) {
        return reader_.Error(item, "anybody could choose a tier by this header",
                             "add from: trusted_proxies");
      }
      if (source.header.empty()) return;
    } else if (item.items.size() > 2) {
      return reader_.Error(item, "api_key stands alone in its source",
                           "make two sources of it, in their order");
    }
    identity_.tier.push_back(std::move(source));
  }

  void ReadHeader(const YamlNode& value, std::string& header) {
    const auto name = reader_.Text(value);
    if (!name) return;
    for (const std::string_view proxies : kProxyHeaders) {
      if (!EqualsIgnoringCase(*name, proxies)) continue;
      return reader_.Error(value, "what a client writes into " + Quoted(*name) + " is no identity",
                           "use peer_address, and list your proxies in trusted_proxies");
    }
    if (IsHeaderName(*name)) {
      header = *name;
    } else {
      reader_.Error(value, Quoted(*name) + " is no name of a header");
    }
  }

  bool ReadFrom(const YamlNode& value) {
    if (!reader_.Word(value, kTrustedProxies)) return false;
    if (set_.trusted_proxies.empty() && !set_.trusts_unix) {
      reader_.Error(value, "there are no trusted proxies", "list them in trusted_proxies");
    }
    return true;
  }

  ConfigReader& reader_;
  PolicySet& set_;
  IdentityPolicy& identity_;
};

}  // namespace

void ReadTrustedProxies(ConfigReader& reader, const YamlNode& node, PolicySet& set) {
  reader.List(node, "networks like `[10.0.0.0/8]`", [&](const YamlNode& item) {
    const auto text = reader.Text(item);
    if (!text) return;
    if (*text == "unix") {
      set.trusts_unix = true;
    } else if (const auto network = Cidr::Parse(*text)) {
      set.trusted_proxies.push_back(*network);
    } else {
      const std::size_t slash = text->find('/');
      const auto address = IpAddress::Parse(text->substr(0, slash));
      reader.Error(item, Quoted(*text) + " is no network",
                   address ? "no bit may be set behind the prefix, and it has 0 to " +
                                 std::to_string(address->bits()) + " bits"
                           : "write it like 10.0.0.0/8, 2001:db8::/32 or 192.0.2.1");
    }
  });
}

void ReadIdentity(ConfigReader& reader, const YamlNode& node, PolicySet& set) {
  IdentityReader(reader, set).Read(node);
}

}  // namespace brim

// Settings with which a client could pass as another, or as many. None of them is wrong by itself:
// that is for the operator to know. docs/warnings.md has a section for each code.
#include <algorithm>
#include <utility>

#include "policy/config/config_sections.h"

namespace brim {
namespace {

const YamlNode* FindIn(const YamlNode& node, std::string_view name) {
  if (node.kind != YamlNode::Kind::kMap) return nullptr;
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    if (node.items[i].text == name) return &node.items[i + 1];
  }
  return nullptr;
}

// The node at the path, else the nearest one around it.
const YamlNode& NodeAt(const YamlNode& root, std::initializer_list<std::string_view> path) {
  const YamlNode* node = &root;
  for (const std::string_view name : path) {
    const YamlNode* const next = FindIn(*node, name);
    if (next == nullptr) break;
    node = next;
  }
  return *node;
}

class Warner {
 public:
  Warner(ConfigReader& reader, const YamlNode& root) : reader_(reader), root_(root) {}

  void Warn(std::string_view code, std::initializer_list<std::string_view> path,
            std::string message, std::string hint) {
    std::string field;
    for (const std::string_view name : path) field.append(field.empty() ? "" : ".").append(name);
    reader_.Warn(NodeAt(root_, path), std::string(code), std::move(field), std::move(message),
                 std::move(hint));
  }

 private:
  ConfigReader& reader_;
  const YamlNode& root_;
};

bool IsLoopback(std::string_view listen) {
  if (listen.starts_with("unix:")) return true;
  std::string_view host = listen.substr(0, listen.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::Parse(host);
  if (!address) return host == "localhost";
  return Cidr::Parse("127.0.0.0/8")->Contains(*address) || Cidr::Parse("::1")->Contains(*address);
}

// So wide that it holds more than one operator's machines.
bool IsWide(const Cidr& network) { return network.prefix() < (network.is_v4() ? 8 : 16); }

void WarnOfHeaders(Warner& warner, const PolicySet& set) {
  using Kind = SubjectSource::Kind;
  const auto& sources = set.identity.subject;
  const auto anybodys = std::find_if(sources.begin(), sources.end(), [](const SubjectSource& one) {
    return one.kind == Kind::kHeader && !one.from_trusted_proxies;
  });
  if (anybodys == sources.end()) return;
  warner.Warn("BRIM-W001", {"identity", "subject"},
              "whoever sends " + Quoted(anybodys->header) +
                  " chooses who he is: a new value is a new budget",
              "let a proxy set the header and add from: trusted_proxies, unless only services of "
              "your own reach brim");
  const bool keyed = std::any_of(sources.begin(), sources.end(), [](const SubjectSource& one) {
    return one.kind == Kind::kApiKey;
  });
  if (!keyed) return;
  warner.Warn("BRIM-W005", {"identity", "subject"},
              "a client without a key can name a key's owner in " + Quoted(anybodys->header) +
                  " and use his budget up",
              "add from: trusted_proxies to the header, or remove it");
}

}  // namespace

void WarnOfSpoofing(ConfigReader& reader, const YamlNode& root, const PolicySet& set) {
  Warner warner(reader, root);
  WarnOfHeaders(warner, set);
  if (std::any_of(set.trusted_proxies.begin(), set.trusted_proxies.end(), IsWide)) {
    warner.Warn("BRIM-W003", {"trusted_proxies"},
                "so wide a network holds clients, too: what they write into the proxies' header is "
                "believed",
                "list the addresses of your proxies alone");
  }
  if (!IsLoopback(set.listen) && set.api_token_file.empty()) {
    warner.Warn("BRIM-W004", {"listen"},
                "whoever reaches the decision API can use up anybody's budget",
                "demand a token with api_token_file, or listen on a loopback address");
  }
  if (set.store.url.find('@') != std::string::npos && set.store.password_file.empty()) {
    warner.Warn("BRIM-W006", {"store", "url"}, "whoever reads this file reads the store's password",
                "write it into a file of its own and name that in store.password_file");
  }
}

}  // namespace brim

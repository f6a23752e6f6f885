#include "policy/config/show_config.h"

#include <string_view>
#include <vector>

#include "base/json_writer.h"

namespace brim {
namespace {

// A JSON string is a YAML string, too.
std::string Quote(std::string_view text) {
  std::string out;
  JsonWriter(out).String(text);
  return out;
}

std::string Join(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out.append(out.size() == 1 ? "" : ", ").append(item);
  return out + "]";
}

// {a: 1, b: 2}, without the settings that say nothing.
class Braces {
 public:
  void Add(std::string_view name, std::string_view value) {
    text_.append(text_.empty() ? "" : ", ").append(name).append(": ").append(value);
  }
  void AddText(std::string_view name, std::string_view value) {
    if (!value.empty()) Add(name, Quote(value));
  }
  std::string Close() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string Masked(std::string url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = url.rfind('@');
  if (scheme == std::string::npos || host == std::string::npos || host < scheme) return url;
  return url.substr(0, scheme + 3) + "***" + url.substr(host);
}

std::string Millis(Micros duration) {
  return std::to_string(duration / std::chrono::milliseconds(1)) + "ms";
}

std::string_view OnFailureName(OnFailure on_failure) {
  switch (on_failure) {
    case OnFailure::kLocal:
      return "local";
    case OnFailure::kOpen:
      return "open";
    case OnFailure::kClosed:
      return "closed";
  }
  return {};
}

std::string Show(const PolicyLimit& limit) {
  const std::string text = Quote(FormatLimit(limit.limit.WithMode(Mode::kEnforce)));
  const bool counts_all = limit.limit.count() == Count::kAll;
  const bool plain = limit.limit.key() == KeyForm::kPlain;
  if (limit.subject.empty() && !limit.scope && !limit.cost && !counts_all && !plain &&
      limit.own_mode == Mode::kEnforce) {
    return text;
  }
  Braces braces;
  braces.Add("limit", text);
  braces.AddText("subject", limit.subject);
  if (limit.scope) braces.Add("scope", Quote(*limit.scope));
  if (limit.cost) braces.Add("cost", std::to_string(*limit.cost));
  if (counts_all) braces.Add("count", "all");
  if (plain) braces.Add("key", "plain");
  if (limit.own_mode != Mode::kEnforce) braces.Add("mode", ModeName(limit.own_mode));
  return braces.Close();
}

std::string Show(const std::vector<PolicyLimit>& limits) {
  std::vector<std::string> items;
  for (const PolicyLimit& limit : limits) items.push_back(Show(limit));
  return Join(items);
}

std::string Show(const Tier& tier) {
  Braces braces;
  braces.Add("limits", Show(tier.limits));
  braces.Add("per_route", tier.per_route ? "true" : "false");
  braces.Add("mode", ModeName(tier.mode));
  return braces.Close();
}

std::string Show(const RoutePolicy& route) {
  Braces braces;
  braces.AddText("name", route.name);
  braces.AddText("path", route.path);
  braces.Add("limits", Show(route.limits));
  braces.Add("tiers", route.tiers ? "true" : "false");
  braces.Add("respond", "{json: " + route.respond + "}");
  braces.Add("deny", DenyFormName(route.deny));
  braces.Add("mode", ModeName(route.mode));
  return braces.Close();
}

std::string Show(const StorePolicy& store) {
  Braces braces;
  braces.AddText("url", Masked(store.url));
  braces.Add("timeout", Millis(store.timeout));
  braces.Add("on_failure", OnFailureName(store.on_failure));
  braces.Add("nodes", std::to_string(store.nodes));
  braces.AddText("key_prefix", store.key_prefix);
  braces.Add("hash_tag", store.hash_tag ? "true" : "false");
  braces.Add("max_memory", std::to_string(store.max_memory));
  braces.AddText("password_file", store.password_file);
  return braces.Close();
}

std::string Show(const SubjectSource& source, const std::string& table) {
  using Kind = SubjectSource::Kind;
  if (source.kind == Kind::kPeerAddress) return "peer_address";
  if (source.kind == Kind::kAnonymous) return "anonymous";
  Braces braces;
  braces.AddText("header", source.header);
  if (source.kind == Kind::kApiKey) {
    braces.AddText("table", table);
    return "{api_key: " + braces.Close() + "}";
  }
  if (source.from_trusted_proxies) braces.Add("from", "trusted_proxies");
  return braces.Close();
}

std::string Show(const TierSource& source) {
  if (source.kind == TierSource::Kind::kApiKey) return "{api_key: tier}";
  return "{header: " + Quote(source.header) + ", from: trusted_proxies}";
}

std::string ShowIdentity(const IdentityPolicy& identity) {
  std::vector<std::string> subject, tier;
  for (const SubjectSource& source : identity.subject) {
    subject.push_back(Show(source, identity.key_table));
  }
  for (const TierSource& source : identity.tier) tier.push_back(Show(source));
  const bool forwarded = identity.proxy_header == ProxyHeader::kForwarded;
  return "identity:\n  subject: " + Join(subject) + "\n  tier: " + Join(tier) +
         "\n  ipv6_prefix: " + std::to_string(identity.ipv6_prefix) +
         "\n  proxy_header: " + (forwarded ? "Forwarded" : "X-Forwarded-For") + "\n";
}

std::string ShowTrusted(const PolicySet& set) {
  std::vector<std::string> items;
  for (const Cidr& network : set.trusted_proxies) items.push_back(Quote(network.ToString()));
  if (set.trusts_unix) items.push_back("unix");
  return Join(items);
}

std::string Show(const HeaderFamilies& families) {
  std::vector<std::string> items;
  if (families.x_ratelimit) items.push_back("x-ratelimit");
  if (families.ietf) items.push_back("ietf");
  return Join(items);
}

}  // namespace

std::string ShowConfig(const PolicySet& set) {
  Braces admin;
  admin.AddText("listen", set.admin_listen);
  admin.AddText("token_file", set.admin_token_file);
  std::string out = "listen: " + Quote(set.listen) + "\n";
  if (!set.api_token_file.empty()) out += "api_token_file: " + Quote(set.api_token_file) + "\n";
  out += std::string("log: ") + (set.log_json ? "json" : "text") + "\n";
  out += "drain_delay: " + Millis(set.drain_delay) + "\n";
  out += "headers: " + Show(set.headers) + "\n";
  out.append("deny: ").append(DenyFormName(set.deny)) += "\n";
  out += "admin: " + admin.Close() + "\n";
  out += "store: " + Show(set.store) + "\n";
  out += "trusted_proxies: " + ShowTrusted(set) + "\n";
  out += "tiers:\n";
  for (const auto& [name, tier] : set.tiers) out += "  " + Quote(name) + ": " + Show(tier) + "\n";
  out += "default_tier: " + Quote(set.default_tier) + "\n";
  out += ShowIdentity(set.identity);
  if (set.gateway_listen.empty() && set.routes.empty()) return out;
  out += "gateway:\n";
  if (!set.gateway_listen.empty()) out += "  listen: " + Quote(set.gateway_listen) + "\n";
  if (!set.routes.empty()) out += "  routes:\n";
  for (const auto& [path, route] : set.routes) out += "    - " + Show(route) + "\n";
  return out;
}

}  // namespace brim

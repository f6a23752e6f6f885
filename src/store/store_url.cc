// scheme://user:password@hosts/path?parameters: cut into its parts once, then each scheme takes the
// parts that it knows and refuses the others.
#include "store/store_url.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "store/scripts.h"

namespace brim {
namespace {

using redis::ClientOptions;
using redis::Endpoint;

constexpr int kMaxDb = 1'000'000;

Error Bad(const std::string& what) {
  return {ErrorCode::kInvalid,
          "store URL: " + what +
              "; known forms: memory://  redis://[user:password@]host[:port][/db]  "
              "unix://[user:password@]/path/to/socket[?db=N]  "
              "redis+sentinel://host,host,host/master_name[/db]  redis+cluster://host,host  "
              "(rediss: with TLS)",
          "store"};
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  if (!AppendPercentDecoded(text, decoded)) return std::nullopt;
  return decoded;
}

// "user:password", either of which may be empty; without a colon it is a password, as Redis has it.
Result<void> ParseUser(std::string_view text, ClientOptions& options) {
  const std::size_t colon = text.find(':');
  const std::string_view user = colon == text.npos ? "" : text.substr(0, colon);
  const std::string_view password = colon == text.npos ? text : text.substr(colon + 1);
  const auto decoded_user = PercentDecode(user);
  const auto decoded_password = PercentDecode(password);
  if (!decoded_user || !decoded_password) {
    return Bad("user and password need percent-encoding: write a '%' as %25, an '@' as %40");
  }
  options.user = *decoded_user;
  options.password = *decoded_password;
  return {};
}

Result<void> ParseDb(std::string_view text, ClientOptions& options) {
  const auto db = ParseNumber<int>(text, kMaxDb);
  if (!db) return Bad("the database must be a number from 0");
  options.db = *db;
  return {};
}

// The parts behind the '@'. Views of the URL.
struct Parts {
  std::string_view hosts;
  std::string_view path;   // without its first '/'
  std::string_view query;  // without the '?'
};

Result<Parts> Cut(std::string_view rest, ClientOptions& options) {
  Parts parts;
  if (const std::size_t question = rest.find('?'); question != rest.npos) {
    parts.query = rest.substr(question + 1);
    rest = rest.substr(0, question);
  }
  if (const std::size_t at = rest.rfind('@'); at != rest.npos) {
    if (auto user = ParseUser(rest.substr(0, at), options); !user) return user.error();
    rest.remove_prefix(at + 1);
  }
  if (rest.find('#') != rest.npos) return Bad("no '#' may stand in it");
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  parts.hosts = rest.substr(0, slash);
  parts.path = rest.substr(std::min(slash + 1, rest.size()));
  return parts;
}

Result<std::vector<Endpoint>> ParseHosts(std::string_view text, std::uint16_t default_port,
                                         std::size_t most) {
  std::vector<Endpoint> endpoints;
  while (true) {  // stops: after the last host, at a bad one, when there are too many
    const std::size_t comma = std::min(text.find(','), text.size());
    auto endpoint = redis::ParseEndpoint(text.substr(0, comma), default_port);
    if (!endpoint) return Bad(endpoint.error().message);
    endpoints.push_back(*std::move(endpoint));
    if (endpoints.size() > most) return Bad("more than " + std::to_string(most) + " hosts");
    if (comma == text.size()) return endpoints;
    text.remove_prefix(comma + 1);
  }
}

struct Parameter {
  std::string_view name;
  std::string* value;
};

// "a=1&b=2": each at most once, none but these.
Result<void> ParseQuery(std::string_view query, std::vector<Parameter> known) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto parameter = std::ranges::find(known, pair.substr(0, equals), &Parameter::name);
    if (parameter == known.end()) {
      std::string names;
      for (const Parameter& one : known) names.append(names.empty() ? "" : ", ").append(one.name);
      return Bad(names.empty() ? "it takes no parameters after '?'"
                               : "after '?' it takes each of these once: " + names);
    }
    const std::size_t value = std::min(equals + 1, pair.size());
    if (!AppendPercentDecoded(pair.substr(value), *parameter->value) || parameter->value->empty()) {
      return Bad("the value of " + std::string(parameter->name) +
                 " is missing, or not percent-encoded");
    }
    known.erase(parameter);
  }
  return {};
}

void AddTls(std::optional<redis::TlsOptions>& tls, std::vector<Parameter>& known) {
  if (!tls) return;
  known.push_back({"cafile", &tls->ca_file});
  known.push_back({"cert", &tls->cert_file});
  known.push_back({"key", &tls->key_file});
  known.push_back({"server_name", &tls->server_name});
}

Result<void> ParseSingle(const Parts& parts, ClientOptions& options) {
  std::vector<Parameter> known;
  AddTls(options.tls, known);
  if (auto query = ParseQuery(parts.query, std::move(known)); !query) return query;
  auto host = ParseHosts(parts.hosts, redis::kDefaultPort, 1);
  if (!host) return host.error();
  options.endpoint = host->front();
  return parts.path.empty() ? Result<void>() : ParseDb(parts.path, options);
}

Result<void> ParseSentinel(const Parts& parts, ClientOptions& options) {
  redis::SentinelOptions sentinel;
  std::string tls;
  std::vector<Parameter> known = {{"sentinel_user", &sentinel.user},
                                  {"sentinel_password", &sentinel.password}};
  if (options.tls) known.push_back({"sentinel_tls", &tls});
  AddTls(options.tls, known);
  if (auto query = ParseQuery(parts.query, std::move(known)); !query) return query;
  if (!tls.empty() && tls != "yes" && tls != "no") return Bad("sentinel_tls is yes or no");
  if (tls != "no") sentinel.tls = options.tls;
  auto hosts = ParseHosts(parts.hosts, redis::kDefaultSentinelPort, limits::kMaxSentinels);
  if (!hosts) return hosts.error();
  sentinel.endpoints = *std::move(hosts);
  const std::size_t slash = std::min(parts.path.find('/'), parts.path.size());
  sentinel.master_name = parts.path.substr(0, slash);
  if (sentinel.master_name.empty()) return Bad("the name of the primary is missing: .../mymaster");
  options.sentinel = std::move(sentinel);
  const std::string_view db = parts.path.substr(std::min(slash + 1, parts.path.size()));
  return db.empty() ? Result<void>() : ParseDb(db, options);
}

Result<void> ParseCluster(const Parts& parts, ClientOptions& options) {
  std::vector<Parameter> known;
  AddTls(options.tls, known);
  if (auto query = ParseQuery(parts.query, std::move(known)); !query) return query;
  auto hosts = ParseHosts(parts.hosts, redis::kDefaultPort, limits::kMaxNodes);
  if (!hosts) return hosts.error();
  options.cluster = *std::move(hosts);
  if (!parts.path.empty() && parts.path != "0") return Bad("a cluster has database 0 alone");
  return {};
}

Result<void> ParseUnix(std::string_view rest, ClientOptions& options) {
  if (const std::size_t at = rest.find("@/"); at < rest.find('/')) {
    if (auto user = ParseUser(rest.substr(0, at), options); !user) return user;
    rest.remove_prefix(at + 1);
  }
  const std::size_t question = std::min(rest.find('?'), rest.size());
  options.endpoint.unix_path = rest.substr(0, question);
  if (options.endpoint.unix_path.empty()) return Bad("the socket's path is missing");
  std::string db;
  const std::string_view query = rest.substr(std::min(question + 1, rest.size()));
  if (auto parsed = ParseQuery(query, {{"db", &db}}); !parsed) return parsed;
  return db.empty() ? Result<void>() : ParseDb(db, options);
}

struct Scheme {
  std::string_view name;
  Result<void> (*parse)(const Parts& parts, ClientOptions& options);
  bool tls;
};
constexpr Scheme kSchemes[] = {
    {"redis://", ParseSingle, false},
    {"rediss://", ParseSingle, true},
    {"redis+sentinel://", ParseSentinel, false},
    {"rediss+sentinel://", ParseSentinel, true},
    {"redis+cluster://", ParseCluster, false},
    {"rediss+cluster://", ParseCluster, true},
};

Result<void> ParseRedis(std::string_view url, ClientOptions& options) {
  constexpr std::string_view kUnix = "unix://";
  if (url.starts_with(kUnix)) return ParseUnix(url.substr(kUnix.size()), options);
  const auto* scheme = std::ranges::find_if(
      kSchemes, [url](const Scheme& known) { return url.starts_with(known.name); });
  if (scheme == std::end(kSchemes)) {
    return Bad("unknown scheme \"" +
               std::string(url.substr(0, std::min(url.find(':'), std::size_t{20}))) + "\"");
  }
  if (scheme->tls) options.tls.emplace();
  auto parts = Cut(url.substr(scheme->name.size()), options);
  return parts ? scheme->parse(*parts, options) : parts.error();
}

const redis::Script& SelfTest() {
  static const redis::Script script{std::string(ShippedScripts().self_test)};
  return script;
}

}  // namespace

Result<StoreUrl> ParseStoreUrl(std::string_view url) {
  if (url == "memory://" || url == "memory:") return StoreUrl(MemoryUrl{});
  if (url.starts_with("memory:")) return Bad("nothing may follow memory://");
  ClientOptions options;
  if (auto parsed = ParseRedis(url, options); !parsed) return parsed.error();
  options.self_test = &SelfTest();
  return StoreUrl(std::move(options));
}

}  // namespace brim

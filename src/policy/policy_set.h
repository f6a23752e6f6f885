// The whole configuration as an immutable value: what a file says, checked and completed with the
// defaults. Doors hold it as std::shared_ptr<const PolicySet> and read it through a PolicyHolder; a
// reload puts a new one in its place. docs/config.md tells what each setting means to users.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brim/limit.h>
#include <brim/limiter.h>
#include "base/ip_address.h"
#include "base/snapshot.h"
#include "policy/api_key_table.h"

namespace brim {

// The body of a refusal.
enum class DenyForm : std::uint8_t {
  kMessage,  // the whole decision, with "detail": "Rate limit exceeded"
  kObject,   // {"detail": {"error": "rate limit exceeded", "retry_after": 12}}
  kProblem,  // application/problem+json (RFC 9457)
};

// Which headers tell a client how it stands.
struct HeaderFamilies {
  bool x_ratelimit = true;  // X-RateLimit-Limit, -Remaining, -Window, -Reset
  bool ietf = true;         // RateLimit-Policy, RateLimit
};

// A limit of a tier or a route. What it leaves open is the request's: who asks, the scope, the
// cost.
struct PolicyLimit {
  Limit limit;                                      // with the mode that is in force
  std::string subject = {};                         // constant, for a cap that all share; or empty
  std::optional<std::string> scope = std::nullopt;  // set but empty: none
  std::optional<Units> cost = std::nullopt;         // 1 or more
  Mode own_mode = Mode::kEnforce;                   // what is in force when its tier or route is
};

struct Tier {
  std::string name;
  std::vector<PolicyLimit> limits;
  bool per_route = false;  // counted for each route by itself, under the route's name as scope
  Mode mode = Mode::kEnforce;
};

struct RoutePolicy {
  std::string name;  // also the scope of its limits
  std::string path;  // matched exactly; a prefix if it ends in '/'
  std::vector<PolicyLimit> limits;
  bool tiers = false;  // the limits of the client's tier hold too, in the same check
  DenyForm deny = DenyForm::kMessage;
  Mode mode = Mode::kEnforce;  // of the route's own limits
  std::string respond = {};    // the JSON text that the route answers, with places "${query.NAME}"
};

// Where the subject of a request is looked for.
struct SubjectSource {
  enum class Kind : std::uint8_t {
    kApiKey,       // a key of the table
    kHeader,       // the value of a header that the configuration trusts by naming it
    kPeerAddress,  // the client's address, after the walk over the trusted proxies
    kAnonymous,    // the constant "anonymous"
  };
  Kind kind = Kind::kPeerAddress;
  std::string header = {};            // of kApiKey and kHeader
  bool from_trusted_proxies = false;  // of kHeader: else it is trusted from anybody
};

struct TierSource {
  enum class Kind : std::uint8_t {
    kApiKey,  // the tier of the key's entry
    kHeader,  // a header that a trusted proxy sent
  };
  Kind kind = Kind::kApiKey;
  std::string header = {};  // of kHeader
};

// The header in which the trusted proxies tell whom they speak for. Only this one is read: the
// other a client may have written, and proxies that do not know it pass it on.
enum class ProxyHeader : std::uint8_t { kXForwardedFor, kForwarded };

struct IdentityPolicy {
  std::vector<SubjectSource> subject;  // the first that is present wins
  std::vector<TierSource> tier;        // likewise; none: the default tier
  std::string key_table;               // the file that the api_key sources look keys up in
  // What the file holds; null if there is no such source, or the file was not read.
  std::shared_ptr<const ApiKeyTable> api_keys = nullptr;
  int ipv6_prefix = 64;  // bits of an IPv6 address that tell clients apart
  ProxyHeader proxy_header = ProxyHeader::kXForwardedFor;
};

struct StorePolicy {
  std::string url;  // empty: not configured
  Micros timeout = std::chrono::milliseconds(50);
  OnFailure on_failure = OnFailure::kLocal;
  std::int64_t nodes = 1;
  std::string key_prefix = "ratelimit";
  bool hash_tag = false;
  std::size_t max_memory = std::size_t{256} << 20;  // bytes; of the embedded store
  std::string password_file;                        // empty: none
};

struct PolicySet {
  std::string file;                             // that this was read from; empty: none
  std::string listen = "127.0.0.1:8080";        // the decision API
  std::string api_token_file;                   // empty: it asks for no token
  std::string admin_listen = "127.0.0.1:9090";  // empty: no admin listener
  std::string admin_token_file;                 // empty: what needs the token is refused
  std::string gateway_listen;                   // empty: no gateway
  bool log_json = false;
  Micros drain_delay{0};  // from "not ready" until connections are drained
  HeaderFamilies headers;
  DenyForm deny = DenyForm::kMessage;  // where a route says nothing
  StorePolicy store;
  std::vector<Cidr> trusted_proxies;
  bool trusts_unix = false;  // whoever connects to a unix socket is a trusted proxy, too
  IdentityPolicy identity;
  std::string default_tier;
  std::map<std::string, Tier, std::less<>> tiers;          // by name; never without the default one
  std::map<std::string, RoutePolicy, std::less<>> routes;  // by path; names are distinct too

  // The tier of that name, else the default one: an unknown tier counts as that.
  const Tier& FindTier(std::string_view name) const;
  // The route for a path: its own, else that of the longest prefix; null if there is none.
  const RoutePolicy* FindRoute(std::string_view path) const;
};

using PolicyHolder = SnapshotHolder<PolicySet>;

// What holds without a file: the tiers free (5 per minute, 100 per day), pro (60, 5000) and
// enterprise (600, 100000), free by default; clients told apart by their address.
PolicySet DefaultPolicySet();

// "message", "object", "problem"; "enforce", "shadow", "off".
std::string_view DenyFormName(DenyForm form);
std::optional<DenyForm> ParseDenyForm(std::string_view name);
std::string_view ModeName(Mode mode);
std::optional<Mode> ParseMode(std::string_view name);

// Puts the limits under the mode of their tier or route: kEnforce leaves each its own.
void ApplyMode(Mode mode, std::vector<PolicyLimit>& limits);

}  // namespace brim

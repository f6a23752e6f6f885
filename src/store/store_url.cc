#include "store/store_url.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <system_error>

#include <brim/memory_store.h>
#include "base/text.h"
#include "store/redis_store.h"

namespace brim {
namespace {

constexpr int kMaxDb = 1'000'000;

Error Bad(const std::string& what) {
  return {ErrorCode::kInvalid,
          "store URL: " + what +
              "; known forms: memory://  redis://[user:password@]host[:port][/db]  "
              "unix://[user:password@]/path/to/socket[?db=N]",
          "store"};
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text, Number most) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > most) {
    return std::nullopt;
  }
  return number;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  if (!AppendPercentDecoded(text, decoded)) return std::nullopt;
  return decoded;
}

// "user:password", either of which may be empty; without a colon it is a password, as Redis has it.
Result<void> ParseUser(std::string_view text, redis::ClientOptions& options) {
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

Result<void> ParseDb(std::string_view text, redis::ClientOptions& options) {
  const auto db = ParseNumber<int>(text, kMaxDb);
  if (!db) return Bad("the database must be a number from 0");
  options.db = *db;
  return {};
}

Result<void> ParseHost(std::string_view text, redis::ClientOptions& options) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == text.npos) return Bad("an IPv6 address needs its closing ']'");
    options.endpoint.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (!text.empty() && text[0] != ':') return Bad("after ']' only ':port' may follow");
    if (!text.empty()) port = text.substr(1);
    if (!text.empty() && port.empty()) return Bad("the port is missing after ':'");
  } else {
    const std::size_t colon = text.find(':');
    options.endpoint.host = text.substr(0, colon);
    if (colon != text.npos) {
      port = text.substr(colon + 1);
      if (port.empty()) return Bad("the port is missing after ':'");
    }
  }
  if (options.endpoint.host.empty()) return Bad("the host is missing");
  if (port.empty()) return {};
  const auto number = ParseNumber<int>(port, 65535);
  if (!number || *number == 0) return Bad("the port must be a number from 1 to 65535");
  options.endpoint.port = static_cast<std::uint16_t>(*number);
  return {};
}

Result<StoreUrl> ParseRedis(std::string_view rest) {
  redis::ClientOptions options;
  if (const std::size_t at = rest.rfind('@'); at != rest.npos) {
    if (auto user = ParseUser(rest.substr(0, at), options); !user) return user.error();
    rest.remove_prefix(at + 1);
  }
  if (rest.find_first_of("?#") != rest.npos) return Bad("no '?' or '#' may follow redis://host");
  if (const std::size_t slash = rest.find('/'); slash != rest.npos) {
    const std::string_view db = rest.substr(slash + 1);
    if (!db.empty()) {
      if (auto parsed = ParseDb(db, options); !parsed) return parsed.error();
    }
    rest = rest.substr(0, slash);
  }
  if (auto host = ParseHost(rest, options); !host) return host.error();
  return StoreUrl(std::move(options));
}

Result<StoreUrl> ParseUnix(std::string_view rest) {
  redis::ClientOptions options;
  if (const std::size_t at = rest.find("@/"); at < rest.find('/')) {
    if (auto user = ParseUser(rest.substr(0, at), options); !user) return user.error();
    rest.remove_prefix(at + 1);
  }
  const std::size_t question = rest.find('?');
  options.endpoint.unix_path = rest.substr(0, question);
  if (options.endpoint.unix_path.empty()) return Bad("the socket's path is missing");
  if (question != rest.npos) {
    const std::string_view query = rest.substr(question + 1);
    if (!query.starts_with("db=")) return Bad("after '?' only db=N is known");
    if (auto parsed = ParseDb(query.substr(3), options); !parsed) return parsed.error();
  }
  return StoreUrl(std::move(options));
}

}  // namespace

Result<StoreUrl> ParseStoreUrl(std::string_view url) {
  const auto after = [url](std::string_view scheme) { return url.substr(scheme.size()); };
  if (url == "memory://" || url == "memory:") return StoreUrl(MemoryUrl{});
  if (url.starts_with("redis://")) return ParseRedis(after("redis://"));
  if (url.starts_with("unix://")) return ParseUnix(after("unix://"));
  if (url.starts_with("memory:")) return Bad("nothing may follow memory://");
  return Bad("unknown scheme \"" +
             std::string(url.substr(0, std::min(url.find(':'), std::size_t{20}))) + "\"");
}

Result<std::unique_ptr<Store>> OpenStore(std::string_view url) {
  Result<StoreUrl> parsed = ParseStoreUrl(url);
  if (!parsed) return parsed.error();
  if (std::holds_alternative<MemoryUrl>(*parsed)) {
    return std::unique_ptr<Store>(std::make_unique<MemoryStore>());
  }
  auto& client = std::get<redis::ClientOptions>(*parsed);
  client.jitter_seed = std::random_device{}();
  return std::unique_ptr<Store>(std::make_unique<RedisStore>(RedisStoreOptions{.client = client}));
}

}  // namespace brim

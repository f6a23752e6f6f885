#include "door/identity.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "door/client_address.h"
#include "door/http_answer.h"
#include "net/ascii.h"

namespace brim::door {
namespace {

constexpr std::string_view kAnonymous = "anonymous";
constexpr std::string_view kNobody = "identity";  // the field of the error without an identity

// Once: a set-up does not change from request to request, and whoever sends the header could else
// fill the log. One process has one set-up, hence one flag; nobody else can reach it.
void WarnOnceOfUntrusted(std::string_view header) {
  static std::atomic<bool> warned{false};
  if (warned.load(std::memory_order_relaxed) || warned.exchange(true)) return;
  Log(LogLevel::kWarning, "untrusted_proxy_header",
      {{"code", "BRIM-W002"},
       {"header", header},
       {"effect", "ignored: the peer is not in trusted_proxies"}});
}

// "Bearer KEY", or the key alone.
std::string_view KeyIn(std::string_view value) {
  constexpr std::string_view kScheme = "Bearer ";
  if (value.size() <= kScheme.size()) return value;
  if (!net::EqualsIgnoringCase(value.substr(0, kScheme.size()), kScheme)) return value;
  value.remove_prefix(kScheme.size());
  return value.substr(std::min(value.find_first_not_of(' '), value.size()));
}

// One look at one request: what several sources ask for is found out once.
class Look {
 public:
  Look(const net::HttpRequest& request, const PolicySet& policy)
      : request_(request), policy_(policy) {}

  Result<Identity> Identify() {
    for (const SubjectSource& source : policy_.identity.subject) {
      Result<std::optional<Identity>> identity = Try(source);
      if (!identity) return identity.error();
      if (!*identity) continue;
      if (auto told = AddTier(**identity); !told) return told.error();
      return **identity;
    }
    return Error{ErrorCode::kInvalid, "the request does not tell who asks", std::string(kNobody)};
  }

 private:
  using Found = Result<std::optional<Identity>>;

  Found Try(const SubjectSource& source) {
    switch (source.kind) {
      case SubjectSource::Kind::kApiKey: {
        const auto entry = Entry(source.header);
        if (!entry) return entry.error();
        if (*entry == nullptr) return std::optional<Identity>();
        return std::optional(Identity((*entry)->subject));
      }
      case SubjectSource::Kind::kHeader: {
        const auto value = Header(source.header, source.from_trusted_proxies);
        if (!value) return value.error();
        if (value->empty()) return std::optional<Identity>();
        return std::optional(Identity(*value));
      }
      case SubjectSource::Kind::kPeerAddress: {
        WarnOfUntrusted();
        const auto address = ClientAddress(request_, policy_);
        if (!address) return std::optional<Identity>();
        return std::optional(Identity(*address, policy_.identity.ipv6_prefix));
      }
      case SubjectSource::Kind::kAnonymous:
        return std::optional(Identity(kAnonymous));
    }
    return std::optional<Identity>();
  }

  Result<void> AddTier(Identity& identity) {
    for (const TierSource& source : policy_.identity.tier) {
      Result<std::string_view> tier = source.kind == TierSource::Kind::kApiKey
                                          ? TierOfKey()
                                          : Header(source.header, /*from_trusted_proxies=*/true);
      if (!tier) return tier.error();
      if (tier->empty()) continue;
      identity.set_tier(*tier);
      return {};
    }
    return {};
  }

  Result<std::string_view> TierOfKey() {
    for (const SubjectSource& source : policy_.identity.subject) {
      if (source.kind != SubjectSource::Kind::kApiKey) continue;
      const auto entry = Entry(source.header);
      if (!entry) return entry.error();
      if (*entry != nullptr) return std::string_view((*entry)->tier);
    }
    return std::string_view();
  }

  // The table's entry for the key in the header; null if there is none.
  Result<const ApiKeyEntry*> Entry(std::string_view header) {
    if (header == looked_up_) return entry_;
    const auto value = Header(header, /*from_trusted_proxies=*/false);
    if (!value) return value.error();
    const auto& table = policy_.identity.api_keys;
    entry_ = value->empty() || table == nullptr ? nullptr : table->Find(KeyIn(*value));
    looked_up_ = header;
    return entry_;
  }

  // Empty: it is absent, or of somebody who is not trusted with it.
  Result<std::string_view> Header(const std::string_view name, bool from_trusted_proxies) {
    if (from_trusted_proxies && !IsFromTrustedProxy(request_, policy_)) return std::string_view();
    if (request_.Count(name) > 1) {
      return Error{ErrorCode::kInvalid, "the header is there more than once; send it once",
                   std::string(name)};
    }
    return request_.Value(name);
  }

  void WarnOfUntrusted() const {
    const std::string_view header = ProxyHeaderName(policy_.identity.proxy_header);
    if (request_.Count(header) != 0 && !IsFromTrustedProxy(request_, policy_)) {
      WarnOnceOfUntrusted(header);
    }
  }

  const net::HttpRequest& request_;
  const PolicySet& policy_;
  std::string_view looked_up_;  // the header that entry_ is of
  const ApiKeyEntry* entry_ = nullptr;
};

}  // namespace

Identity::Identity(const IpAddress& address, int ipv6_prefix) {
  const std::string text = (address.is_v4() ? address : address.Masked(ipv6_prefix)).ToString();
  BRIM_ASSERT(text.size() <= text_.size());
  size_ = text.copy(text_.data(), text_.size());
}

Result<Identity> Identify(const net::HttpRequest& request, const PolicySet& policy) {
  return Look(request, policy).Identify();
}

void AnswerUnidentified(const Error& error, net::HttpResponse& response) {
  if (error.field != kNobody) return AnswerError(400, error.message, error.field, response);
  response.AddHeader("WWW-Authenticate", "Bearer");
  AnswerError(401, error.message, error.field, response);
}

}  // namespace brim::door

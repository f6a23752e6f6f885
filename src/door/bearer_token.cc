#include "door/bearer_token.h"

#include <algorithm>
#include <fstream>

#include <openssl/crypto.h>

#include "base/limits.h"
#include "door/http_answer.h"
#include "net/ascii.h"

namespace brim::door {
namespace {

constexpr std::string_view kScheme = "Bearer ";

Error Invalid(std::string_view field, const std::string& path, std::string_view what) {
  return {ErrorCode::kInvalid, path + " " + std::string(what), std::string(field)};
}

// As RFC 6750 wants it, or more: visible ASCII.
bool IsVisible(char c) { return c > ' ' && c <= '~'; }

}  // namespace

Result<BearerToken> BearerToken::Load(const std::string& path, std::string_view field) {
  std::ifstream file(path);
  if (!file)
    return Invalid(field, path, "cannot be read; it must hold the token on its first line");
  BearerToken result;
  std::getline(file, result.token_);
  if (result.token_.ends_with('\r')) result.token_.pop_back();
  const std::string& token = result.token_;
  if (token.empty()) return Invalid(field, path, "is empty; put a token on its first line");
  if (token.size() > limits::kMaxTokenBytes || !std::ranges::all_of(token, IsVisible)) {
    return Invalid(field, path,
                   "holds no token: use visible ASCII characters, at most " +
                       std::to_string(limits::kMaxTokenBytes));
  }
  return result;
}

bool BearerToken::Admits(const net::HttpRequest& request) const {
  if (!is_set()) return true;
  if (Equals(request.Value("X-Brim-Token"))) return true;
  const std::string_view value = request.Value("Authorization");
  if (!net::EqualsIgnoringCase(value.substr(0, kScheme.size()), kScheme)) return false;
  return Equals(value.substr(kScheme.size()));
}

// Its time tells the token's length at most.
bool BearerToken::Equals(std::string_view offered) const {
  return offered.size() == token_.size() &&
         CRYPTO_memcmp(offered.data(), token_.data(), token_.size()) == 0;
}

void AnswerUnauthorized(net::HttpResponse& response) {
  response.AddHeader("WWW-Authenticate", "Bearer realm=\"brim\"");
  AnswerError(401, "send the token of this listener as `Authorization: Bearer TOKEN`",
              "Authorization", response);
}

}  // namespace brim::door

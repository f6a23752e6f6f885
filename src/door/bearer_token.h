// The token that a listener asks for, as RFC 6750 has it: `Authorization: Bearer TOKEN`.
#pragma once

#include <string>
#include <string_view>

#include <brim/result.h>
#include "net/http.h"

namespace brim::door {

// Immutable.
class BearerToken {
 public:
  // None: whoever reaches the listener is admitted.
  BearerToken() = default;

  // The first line of the file. kInvalid, with that field: it cannot be read, is empty or too long,
  // or has bytes that no header can carry.
  static Result<BearerToken> Load(const std::string& path, std::string_view field);

  bool is_set() const { return !token_.empty(); }

  // Whether the request carries it; compared in constant time. A gateway that passes the client's
  // own Authorization on sends it as X-Brim-Token instead.
  bool Admits(const net::HttpRequest& request) const;

 private:
  bool Equals(std::string_view offered) const;

  std::string token_;
};

// Turns the response into the 401 that asks for the token.
void AnswerUnauthorized(net::HttpResponse& response);

}  // namespace brim::door

// Responses as bytes. Appends to a string that the session keeps, so nothing is allocated once it
// has grown. Loop-bound.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/http_parser.h"

namespace brim::net {

// The Date header, formatted once a second.
class HttpDate {
 public:
  // "Sun, 06 Nov 1994 08:49:37 GMT"; valid until the next call.
  std::string_view At(std::time_t now);

 private:
  std::time_t second_ = -1;
  char text_[30] = {};
};

enum class Persistence {
  kKeep,        // HTTP/1.1 says nothing
  kKeepHttp10,  // `Connection: keep-alive`
  kClose,       // `Connection: close`
};

// `is_head`: the headers of `response` with the length of its body, without the body.
void AppendResponse(std::string& out, const HttpResponse& response, bool is_head,
                    Persistence persistence, std::string_view date);

// Fills the response to a request that was refused: JSON `{"error": …, "field": …}`.
void FillError(HttpResponse& response, const HttpParseError& error);

}  // namespace brim::net

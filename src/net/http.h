// HTTP/1.1 as a door sees it: a request in, a response out. Knows nothing of limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <brim/function.h>

namespace brim::net {

struct HttpHeader {
  std::string_view name;
  std::string_view value;  // outer white space removed; any bytes but CR, LF and NUL
};

// A parsed request. All views live until the response is sent.
struct HttpRequest {
  std::string_view method;
  std::string_view path;   // as sent, up to '?'; begins with '/' (origin-form; others are refused)
  std::string_view query;  // as sent, after the first '?'
  std::span<const HttpHeader> headers;
  std::string_view body;
  std::string_view peer_address;  // "192.0.2.7", "2001:db8::1"; "unix" for a unix socket

  // How often the header is there (names are compared without case), and its first value.
  std::size_t Count(std::string_view name) const;
  std::string_view Value(std::string_view name) const;  // empty if absent
};

// The first value of a parameter in a query string, as sent: percent-decode it. "" if it has no
// '='; nullopt if it is not there.
std::optional<std::string_view> FindQueryValue(std::string_view query, std::string_view parameter);

// A response under construction. The server adds Date, Content-Length and Connection.
struct HttpResponse {
  int status = 200;
  std::string headers;  // finished lines, each with CRLF; use AddHeader
  std::string body;
  bool close = false;  // end the connection after this response

  // REQUIRES: name is a token; CR, LF and NUL in the value are replaced by spaces.
  void AddHeader(std::string_view name, std::string_view value);
  void AddHeader(std::string_view name, std::int64_t value);
};

// Ends the wait of a handler that answered kLater. Call it exactly once, from any thread, when the
// response is filled. Until then request and response stay valid, even if the client has left.
using HttpResume = MoveOnlyFunction<void()>;

// Makes the HttpResume of the request at hand, for handlers that need one.
class HttpPause {
 public:
  virtual HttpResume MakeResume() = 0;

 protected:
  ~HttpPause() = default;
};

enum class HttpNext { kSend, kLater };

// What a listener serves. Called on shard threads, by several at once: thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Fills the response and returns kSend; or takes pause.MakeResume(), returns kLater, and fills
  // the response before it resumes. Must not block.
  virtual HttpNext Handle(const HttpRequest& request, HttpResponse& response, HttpPause& pause) = 0;
};

}  // namespace brim::net

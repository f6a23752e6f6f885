// A strict, incremental parser of HTTP/1.0 and 1.1 requests. No I/O, no clock; it allocates only
// until it has seen the greatest number of headers.
//
// What two servers could read in two ways is refused, so that no request can hide in another: both
// or repeated lengths, any transfer coding but `chunked`, bare CR or LF, folded lines, white space
// before a colon, and targets that are not a path (RFC 9112 allows some of it to be repaired; brim
// does not). Each line is looked at once, when it is complete; where the bytes were split never
// changes the answer. The body is contiguous: the framing of chunks is cut out of the caller's
// buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "net/http.h"

namespace brim::net {

// Why a request is refused, and the status that says so. The connection cannot go on after it.
struct HttpParseError {
  int status = 0;
  std::string_view message;
  std::string_view field;  // the header, in lower case, or `method`, `target`, `version`, `body`
};

// Loop-bound. One parser serves a connection: Reset() between its requests.
class HttpParser {
 public:
  enum class Status { kNeedMore, kDone, kError };

  explicit HttpParser(std::size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}

  // Goes on with the request whose first byte is data[0]. The caller keeps all of its bytes, and
  // may move them between calls. `size` becomes smaller when framing was cut out of a chunked body.
  Status Parse(char* data, std::size_t& size);

  // After kDone: the request; its views point into `data`. `peer_address` is the caller's to set.
  HttpRequest& request() { return request_; }
  std::size_t consumed() const { return pos_; }  // the bytes of `data` that were this request
  bool keep_alive() const { return keep_alive_; }
  bool is_http_1_0() const { return minor_version_ == 0; }
  bool is_head() const { return is_head_; }

  const HttpParseError& error() const { return error_; }  // after kError

  // After kNeedMore: how far it is, and whether the client waits for `100 Continue` to send the
  // body.
  bool in_body() const { return state_ >= State::kBody && state_ <= State::kTrailers; }
  bool expects_continue() const { return expects_continue_ && in_body(); }
  void SaidContinue() { expects_continue_ = false; }

  // Makes ready for the next request.
  void Reset();

 private:
  enum class State {
    kStart,
    kRequestLine,
    kHeaders,
    kBody,  // with a length that was declared
    kChunkSize,
    kChunk,
    kChunkEnd,
    kTrailers,
    kDone,
    kError
  };
  enum class Step { kAgain, kStop };  // kStop: more bytes are needed, or state_ is kDone or kError

  // A header as offsets into `data`. They fit: a head is at most a request line and
  // kMaxHeaderBytes.
  struct Field {
    std::uint16_t name, name_size, value, value_size;
  };
  static_assert(limits::kMaxRequestLineBytes + limits::kMaxHeaderBytes + 8 < 65'536);

  Step Advance(char* data, std::size_t size);
  Step SkipEmptyLine(const char* data, std::size_t size);
  Step ParseRequestLine(const char* data, std::size_t size);
  Step ParseHeaderLine(const char* data, std::size_t size);
  Step ParseField(const char* data, std::string_view line);
  Step NoteField(std::string_view name, std::string_view value);
  Step NoteContentLength(std::string_view value);
  void NoteConnection(std::string_view value);
  Step EndHead();
  Step TakeBody(std::size_t size);
  Step ParseChunkSize(const char* data, std::size_t size);
  Step TakeChunk(char* data, std::size_t size);
  Step EndChunk(const char* data, std::size_t size);
  void FillRequest(const char* data);
  Step Fail(int status, std::string_view message, std::string_view field);

  // Takes the line at pos_ off, without its CRLF. False: it is not complete yet, or has failed,
  // with `too_long` if it is longer than `limit`.
  bool NextLine(const char* data, std::size_t size, std::size_t limit,
                const HttpParseError& too_long, std::string_view& line);

  const std::size_t max_body_bytes_;
  State state_ = State::kStart;
  std::size_t pos_ = 0;           // all before it is parsed
  std::size_t scanned_ = 0;       // there is no LF between pos_ and here
  std::size_t header_bytes_ = 0;  // of headers and trailers so far
  std::size_t body_begin_ = 0;
  std::size_t body_end_ = 0;
  std::uint64_t length_ = 0;  // Content-Length, or what is left of the chunk
  std::uint16_t method_begin_ = 0;
  std::uint16_t method_size_ = 0;
  std::uint16_t target_size_ = 0;
  std::uint8_t field_count_ = 0;   // headers and trailers
  std::uint8_t header_count_ = 0;  // headers: the entries of fields_
  std::uint8_t minor_version_ = 1;
  bool has_host_ = false;
  bool has_length_ = false;
  bool is_chunked_ = false;
  bool is_head_ = false;
  bool asks_close_ = false;
  bool asks_keep_alive_ = false;
  bool keep_alive_ = false;
  bool expects_continue_ = false;
  HttpParseError error_;
  HttpRequest request_;
  std::vector<HttpHeader> headers_;  // what request_.headers views
  std::array<Field, limits::kMaxHeaders> fields_;
};

}  // namespace brim::net

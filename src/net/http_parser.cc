#include "net/http_parser.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "net/ascii.h"

namespace brim::net {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

}  // namespace

HttpParser::Status HttpParser::Parse(char* data, std::size_t& size) {
  while (Advance(data, size) == Step::kAgain) {
  }
  if (is_chunked_ && body_begin_ != 0 && pos_ > body_end_) {
    // The framing before pos_ goes, so that a long body of small chunks takes no more than its
    // bytes.
    std::memmove(data + body_end_, data + pos_, size - pos_);
    size -= pos_ - body_end_;
    pos_ = scanned_ = body_end_;
  }
  if (state_ == State::kDone) {
    FillRequest(data);
    return Status::kDone;
  }
  return state_ == State::kError ? Status::kError : Status::kNeedMore;
}

HttpParser::Step HttpParser::Advance(char* data, std::size_t size) {
  switch (state_) {
    case State::kStart:
      return SkipEmptyLine(data, size);
    case State::kRequestLine:
      return ParseRequestLine(data, size);
    case State::kHeaders:
    case State::kTrailers:
      return ParseHeaderLine(data, size);
    case State::kBody:
      return TakeBody(size);
    case State::kChunkSize:
      return ParseChunkSize(data, size);
    case State::kChunk:
      return TakeChunk(data, size);
    case State::kChunkEnd:
      return EndChunk(data, size);
    case State::kDone:
    case State::kError:
      break;
  }
  return Step::kStop;
}

// One empty line may stand before a request: some clients send it after a body.
HttpParser::Step HttpParser::SkipEmptyLine(const char* data, std::size_t size) {
  if (size == 0) return Step::kStop;
  if (data[0] == '\r') {
    if (size == 1) return Step::kStop;
    if (data[1] != '\n') return Fail(400, "a bare CR before the request line", "");
    pos_ = 2;
  }
  method_begin_ = static_cast<std::uint16_t>(pos_);
  state_ = State::kRequestLine;
  return Step::kAgain;
}

bool HttpParser::NextLine(const char* data, std::size_t size, std::size_t limit,
                          const HttpParseError& too_long, std::string_view& line) {
  const std::size_t from = std::max(scanned_, pos_);
  const std::size_t until = std::min(size, pos_ + limit + 2);
  const void* found = from < until ? std::memchr(data + from, '\n', until - from) : nullptr;
  if (found == nullptr) {
    scanned_ = until;
    if (size - pos_ >= limit + 2) Fail(too_long.status, too_long.message, too_long.field);
    return false;
  }
  const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - data);
  line = std::string_view(data + pos_, end - pos_);
  if (!line.ends_with('\r')) {
    Fail(400, "a line ends in LF without CR", "");
    return false;
  }
  line.remove_suffix(1);
  pos_ = end + 1;
  return true;
}

HttpParser::Step HttpParser::ParseRequestLine(const char* data, std::size_t size) {
  static constexpr HttpParseError kTooLong = {414, "the request line is too long", "target"};
  std::string_view line;
  if (!NextLine(data, size, limits::kMaxRequestLineBytes, kTooLong, line)) return Step::kStop;

  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == line.npos || first == last) {
    return Fail(400, "a request line is: method, path, version", "");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(method)) return Fail(400, "the method is not a token", "method");

  const bool is_version = version.size() == 8 && version.starts_with("HTTP/") &&
                          IsDigit(version[5]) && version[6] == '.' && IsDigit(version[7]);
  if (!is_version) return Fail(400, "the version is not HTTP/1.0 or HTTP/1.1", "version");
  if (version[5] != '1' || version[7] > '1') {
    return Fail(505, "use HTTP/1.0 or HTTP/1.1", "version");
  }
  if (!target.starts_with('/') || !IsTarget(target)) {
    return Fail(400, "the target is not a path of visible ASCII that begins with '/'", "target");
  }
  method_size_ = static_cast<std::uint16_t>(method.size());
  target_size_ = static_cast<std::uint16_t>(target.size());
  minor_version_ = static_cast<std::uint8_t>(version[7] - '0');
  is_head_ = method == "HEAD";
  state_ = State::kHeaders;
  return Step::kAgain;
}

// A line of the head, or of the trailers, which are checked and dropped.
HttpParser::Step HttpParser::ParseHeaderLine(const char* data, std::size_t size) {
  static constexpr HttpParseError kTooLong = {431, "the headers are too large", "headers"};
  const std::size_t left =
      limits::kMaxHeaderBytes - std::min(limits::kMaxHeaderBytes, header_bytes_);
  std::string_view line;
  if (!NextLine(data, size, left, kTooLong, line)) return Step::kStop;
  if (!line.empty()) {
    header_bytes_ += line.size() + 2;
    return ParseField(data, line);
  }
  if (state_ == State::kHeaders) return EndHead();
  state_ = State::kDone;
  return Step::kStop;
}

HttpParser::Step HttpParser::ParseField(const char* data, std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') {
    return Fail(400, "a header is folded over two lines", "headers");
  }
  if (field_count_ == limits::kMaxHeaders) return Fail(431, "too many headers", "headers");
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == line.npos || !IsToken(name)) {
    return Fail(400, "a header is not `name: value`, without space before the colon", "headers");
  }
  const std::string_view value = Trim(line.substr(colon + 1));
  if (!IsHeaderValue(value)) return Fail(400, "a header has a control character", "headers");
  ++field_count_;
  if (state_ == State::kTrailers) return Step::kAgain;

  fields_[header_count_++] = {.name = static_cast<std::uint16_t>(name.data() - data),
                              .name_size = static_cast<std::uint16_t>(name.size()),
                              .value = static_cast<std::uint16_t>(value.data() - data),
                              .value_size = static_cast<std::uint16_t>(value.size())};
  return NoteField(name, value);
}

// Keeps what the framing of this request depends on. Almost all headers are told by their length.
HttpParser::Step HttpParser::NoteField(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 4:
      if (!EqualsIgnoringCase(name, "host")) break;
      if (has_host_) return Fail(400, "the header is repeated", "host");
      if (!IsHost(value)) return Fail(400, "not a host", "host");
      has_host_ = true;
      break;
    case 6:
      if (!EqualsIgnoringCase(name, "expect") || minor_version_ == 0) break;
      if (!EqualsIgnoringCase(value, "100-continue")) {
        return Fail(417, "the only expectation met is 100-continue", "expect");
      }
      expects_continue_ = true;
      break;
    case 10:
      if (EqualsIgnoringCase(name, "connection")) NoteConnection(value);
      break;
    case 14:
      if (EqualsIgnoringCase(name, "content-length")) return NoteContentLength(value);
      break;
    case 17:
      if (!EqualsIgnoringCase(name, "transfer-encoding")) break;
      if (is_chunked_) return Fail(400, "the header is repeated", "transfer-encoding");
      if (!EqualsIgnoringCase(value, "chunked")) {
        return Fail(400, "the only transfer coding is `chunked`", "transfer-encoding");
      }
      is_chunked_ = true;
      break;
    default:
      break;
  }
  return Step::kAgain;
}

HttpParser::Step HttpParser::NoteContentLength(std::string_view value) {
  if (has_length_) return Fail(400, "the header is repeated", "content-length");
  if (value.empty() || !std::ranges::all_of(value, IsDigit)) {
    return Fail(400, "not a number of bytes", "content-length");
  }
  has_length_ = true;
  for (const char c : value) {
    if (length_ > kEndless / 16) continue;  // far beyond any maximum, which EndHead refuses
    length_ = length_ * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return Step::kAgain;
}

void HttpParser::NoteConnection(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = Trim(value.substr(0, comma));
    if (EqualsIgnoringCase(option, "close")) asks_close_ = true;
    if (EqualsIgnoringCase(option, "keep-alive")) asks_keep_alive_ = true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

HttpParser::Step HttpParser::EndHead() {
  if (!has_host_ && minor_version_ != 0) return Fail(400, "the header is missing", "host");
  if (is_chunked_ && has_length_) {
    return Fail(400, "not together with Content-Length", "transfer-encoding");
  }
  if (is_chunked_ && minor_version_ == 0) {
    return Fail(400, "HTTP/1.0 has no transfer codings", "transfer-encoding");
  }
  if (length_ > max_body_bytes_) return Fail(413, "the body is too large", "body");
  keep_alive_ = !asks_close_ && (minor_version_ != 0 || asks_keep_alive_);
  body_begin_ = body_end_ = pos_;
  state_ = is_chunked_ ? State::kChunkSize : State::kBody;
  return Step::kAgain;
}

HttpParser::Step HttpParser::TakeBody(std::size_t size) {
  if (size - body_begin_ < length_) return Step::kStop;
  pos_ = body_end_ = body_begin_ + static_cast<std::size_t>(length_);
  state_ = State::kDone;
  return Step::kStop;
}

HttpParser::Step HttpParser::ParseChunkSize(const char* data, std::size_t size) {
  static constexpr HttpParseError kTooLong = {400, "a chunk's first line is too long", "body"};
  std::string_view line;
  if (!NextLine(data, size, limits::kMaxChunkLineBytes, kTooLong, line)) return Step::kStop;

  length_ = 0;
  std::size_t digits = 0;
  for (; digits < line.size() && HexValue(line[digits]) >= 0; ++digits) {
    if (length_ > kEndless / 32) continue;  // far beyond any maximum
    length_ = length_ * 16 + static_cast<std::uint64_t>(HexValue(line[digits]));
  }
  const std::string_view extension = line.substr(digits);
  if (digits == 0 || !(extension.empty() || extension.front() == ';') ||
      !IsHeaderValue(extension)) {
    return Fail(400, "a chunk does not begin with its size in hex digits", "body");
  }
  if (length_ > max_body_bytes_ - (body_end_ - body_begin_)) {
    return Fail(413, "the body is too large", "body");
  }
  state_ = length_ == 0 ? State::kTrailers : State::kChunk;
  return Step::kAgain;
}

// Moves what is there of the chunk to the end of the body so far.
HttpParser::Step HttpParser::TakeChunk(char* data, std::size_t size) {
  const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(length_, size - pos_));
  if (pos_ != body_end_) std::memmove(data + body_end_, data + pos_, taken);
  pos_ += taken;
  body_end_ += taken;
  length_ -= taken;
  if (length_ != 0) return Step::kStop;
  state_ = State::kChunkEnd;
  return Step::kAgain;
}

HttpParser::Step HttpParser::EndChunk(const char* data, std::size_t size) {
  const std::string_view rest(data + pos_, std::min<std::size_t>(size - pos_, 2));
  if (!std::string_view("\r\n").starts_with(rest)) {
    return Fail(400, "a chunk is longer than its size", "body");
  }
  if (rest.size() < 2) return Step::kStop;
  pos_ += 2;
  state_ = State::kChunkSize;
  return Step::kAgain;
}

void HttpParser::FillRequest(const char* data) {
  const std::string_view target(data + method_begin_ + method_size_ + 1, target_size_);
  const std::size_t question = std::min(target.find('?'), target.size());
  request_.method = std::string_view(data + method_begin_, method_size_);
  request_.path = target.substr(0, question);
  request_.query = target.substr(std::min(question + 1, target.size()));
  request_.body = std::string_view(data + body_begin_, body_end_ - body_begin_);

  headers_.clear();
  for (std::size_t i = 0; i < header_count_; ++i) {
    const Field& field = fields_[i];
    headers_.push_back({.name = std::string_view(data + field.name, field.name_size),
                        .value = std::string_view(data + field.value, field.value_size)});
  }
  request_.headers = headers_;
}

HttpParser::Step HttpParser::Fail(int status, std::string_view message, std::string_view field) {
  error_ = {.status = status, .message = message, .field = field};
  state_ = State::kError;
  return Step::kStop;
}

void HttpParser::Reset() {
  state_ = State::kStart;
  pos_ = scanned_ = header_bytes_ = body_begin_ = body_end_ = 0;
  length_ = 0;
  field_count_ = header_count_ = 0;
  has_host_ = has_length_ = is_chunked_ = false;
  asks_close_ = asks_keep_alive_ = expects_continue_ = is_head_ = false;
  minor_version_ = 1;
}

}  // namespace brim::net

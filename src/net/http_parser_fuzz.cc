// Requests in arbitrary bytes: whole and split input must give the same answer, no view may leave
// the buffer, and a request that was accepted must be one that other servers read in the same way.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "base/assert.h"
#include "net/http_parser.h"

namespace {

using brim::net::HttpParser;

constexpr std::size_t kMaxBody = 256;

struct Outcome {
  HttpParser::Status status = HttpParser::Status::kNeedMore;
  std::string text;  // all that was parsed
  std::string rest;  // what follows the request
  bool operator==(const Outcome&) const = default;
};

void Append(std::string& text, std::string_view part, const char* begin, std::size_t size) {
  BRIM_ASSERT(part.empty() || (part.data() >= begin && part.data() + part.size() <= begin + size));
  text.append(part).push_back('\n');
}

// What comes is copied into a buffer of its exact size each time, so that a sanitizer sees any byte
// that is read behind it.
Outcome Run(std::string_view bytes, std::size_t first, std::size_t piece) {
  HttpParser parser(kMaxBody);
  Outcome outcome;
  std::string have;
  std::unique_ptr<char[]> buffer;
  std::size_t size = 0;
  while (outcome.status == HttpParser::Status::kNeedMore && !bytes.empty()) {
    have.append(bytes.substr(0, first));
    bytes.remove_prefix(std::min(first, bytes.size()));
    first = piece;
    size = have.size();
    buffer.reset(new char[size]);
    have.copy(buffer.get(), size);
    outcome.status = parser.Parse(buffer.get(), size);
    BRIM_ASSERT(size <= have.size());
    have.assign(buffer.get(), size);
  }
  if (outcome.status == HttpParser::Status::kError) {
    outcome.text = std::to_string(parser.error().status) + std::string(parser.error().message);
  }
  if (outcome.status != HttpParser::Status::kDone) return outcome;
  const auto& request = parser.request();
  BRIM_ASSERT(parser.consumed() <= size);
  BRIM_ASSERT(request.path.starts_with('/') && request.body.size() <= kMaxBody);
  BRIM_ASSERT(request.Count("host") <= 1 && request.Count("content-length") <= 1);
  BRIM_ASSERT(request.Count("content-length") + request.Count("transfer-encoding") <= 1);
  for (const std::string_view part : {request.method, request.path, request.query, request.body}) {
    Append(outcome.text, part, buffer.get(), size);
  }
  for (const auto& header : request.headers) {
    Append(outcome.text, header.name, buffer.get(), size);
    Append(outcome.text, header.value, buffer.get(), size);
    BRIM_ASSERT(header.value.find_first_of(std::string_view("\r\n\0", 3)) ==
                std::string_view::npos);
  }
  outcome.text += parser.keep_alive() ? "keep" : "close";
  outcome.rest = have.substr(parser.consumed()).append(bytes);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t first = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Run(bytes, bytes.size(), 1);
  BRIM_ASSERT(whole == Run(bytes, first, bytes.size()));
  BRIM_ASSERT(whole == Run(bytes, first, first));
  if (bytes.size() < 512) BRIM_ASSERT(whole == Run(bytes, 1, 1));
  return 0;
}

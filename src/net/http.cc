#include "net/http.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text.h"
#include "net/ascii.h"

namespace brim::net {

std::size_t HttpRequest::Count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      headers, [&](const HttpHeader& header) { return EqualsIgnoringCase(header.name, name); }));
}

std::string_view HttpRequest::Value(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (EqualsIgnoringCase(header.name, name)) return header.value;
  }
  return {};
}

std::optional<std::string_view> FindQueryValue(std::string_view query, std::string_view parameter) {
  while (!query.empty()) {  // stops: each turn drops one pair
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) != parameter) continue;
    return equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
  }
  return std::nullopt;
}

void HttpResponse::AddHeader(std::string_view name, std::string_view value) {
  BRIM_ASSERT(IsToken(name));
  headers.append(name).append(": ");
  const std::size_t begin = headers.size();
  headers.append(value);
  const auto breaks_line = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  std::replace_if(headers.begin() + static_cast<std::ptrdiff_t>(begin), headers.end(), breaks_line,
                  ' ');
  headers.append("\r\n");
}

void HttpResponse::AddHeader(std::string_view name, std::int64_t value) {
  AddHeader(name, Decimal(value).view());
}

}  // namespace brim::net

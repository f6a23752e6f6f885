#include "net/http_writer.h"

#include "base/text.h"

namespace brim::net {
namespace {

// The status line with its CRLF.
std::string_view StatusLine(int status) {
  switch (status) {
    case 200:
      return "HTTP/1.1 200 OK\r\n";
    case 400:
      return "HTTP/1.1 400 Bad Request\r\n";
    case 401:
      return "HTTP/1.1 401 Unauthorized\r\n";
    case 403:
      return "HTTP/1.1 403 Forbidden\r\n";
    case 404:
      return "HTTP/1.1 404 Not Found\r\n";
    case 405:
      return "HTTP/1.1 405 Method Not Allowed\r\n";
    case 408:
      return "HTTP/1.1 408 Request Timeout\r\n";
    case 413:
      return "HTTP/1.1 413 Content Too Large\r\n";
    case 414:
      return "HTTP/1.1 414 URI Too Long\r\n";
    case 415:
      return "HTTP/1.1 415 Unsupported Media Type\r\n";
    case 417:
      return "HTTP/1.1 417 Expectation Failed\r\n";
    case 422:
      return "HTTP/1.1 422 Unprocessable Content\r\n";
    case 429:
      return "HTTP/1.1 429 Too Many Requests\r\n";
    case 431:
      return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    case 500:
      return "HTTP/1.1 500 Internal Server Error\r\n";
    case 502:
      return "HTTP/1.1 502 Bad Gateway\r\n";
    case 503:
      return "HTTP/1.1 503 Service Unavailable\r\n";
    case 504:
      return "HTTP/1.1 504 Gateway Timeout\r\n";
    case 505:
      return "HTTP/1.1 505 HTTP Version Not Supported\r\n";
    default:
      return {};
  }
}

void AppendStatusLine(std::string& out, int status) {
  if (const std::string_view line = StatusLine(status); !line.empty()) {
    out.append(line);
    return;
  }
  out.append("HTTP/1.1 ");
  out.append(Decimal(status).view());
  out.append(" \r\n");
}

}  // namespace

std::string_view HttpDate::At(std::time_t now) {
  if (now != second_) {
    static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm utc{};
    gmtime_r(&now, &utc);
    // By hand: strftime writes the names of the process's locale.
    const std::string format =
        std::string(kDays[utc.tm_wday]) + ", %d " + kMonths[utc.tm_mon] + " %Y %H:%M:%S GMT";
    std::strftime(text_, sizeof(text_), format.c_str(), &utc);
    second_ = now;
  }
  return {text_, sizeof(text_) - 1};
}

void AppendResponse(std::string& out, const HttpResponse& response, bool is_head,
                    Persistence persistence, std::string_view date) {
  AppendStatusLine(out, response.status);
  out.append("Date: ").append(date).append("\r\n");
  const bool has_body = response.status >= 200 && response.status != 204 && response.status != 304;
  if (has_body) {
    const Decimal length(static_cast<std::int64_t>(response.body.size()));
    out.append("Content-Length: ").append(length.view()).append("\r\n");
  }
  if (persistence == Persistence::kClose) out.append("Connection: close\r\n");
  if (persistence == Persistence::kKeepHttp10) out.append("Connection: keep-alive\r\n");
  out.append(response.headers).append("\r\n");
  if (has_body && !is_head) out.append(response.body);
}

void FillError(HttpResponse& response, const HttpParseError& error) {
  response.status = error.status;
  response.close = true;
  response.headers.clear();
  response.AddHeader("Content-Type", "application/json");
  // Both texts are the parser's own: nothing in them needs escaping.
  response.body.assign("{\"error\": \"").append(error.message);
  response.body.append("\", \"field\": \"").append(error.field).append("\"}\n");
}

}  // namespace brim::net

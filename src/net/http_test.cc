#include "net/http.h"

#include <limits>

#include <gtest/gtest.h>

#include "net/http_writer.h"

namespace brim::net {
namespace {

TEST(HttpRequestTest, FindsHeadersWithoutCase) {
  const HttpHeader headers[] = {{"Accept", "a"}, {"X-Id", "b"}, {"x-id", "c"}};
  HttpRequest request;
  request.headers = headers;
  EXPECT_EQ(request.Count("X-ID"), 2u);
  EXPECT_EQ(request.Value("x-Id"), "b");
  EXPECT_EQ(request.Count("X-I"), 0u);
  EXPECT_EQ(request.Value("X-I"), "");
}

TEST(HttpResponseTest, AValueCannotBreakOutOfItsLine) {
  HttpResponse response;
  response.AddHeader("A", std::string_view("b\r\nC: d\0e", 9));
  response.AddHeader("N", std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(response.headers, "A: b  C: d e\r\nN: -9223372036854775808\r\n");
}

TEST(HttpWriterTest, WritesDates) {
  HttpDate date;
  EXPECT_EQ(date.At(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.At(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.At(951782400), "Tue, 29 Feb 2000 00:00:00 GMT");
}

TEST(HttpWriterTest, WritesResponses) {
  HttpResponse response{.status = 429, .headers = "A: b\r\n", .body = "xy"};
  std::string out;
  AppendResponse(out, response, /*is_head=*/false, Persistence::kClose, "D");
  EXPECT_EQ(out,
            "HTTP/1.1 429 Too Many Requests\r\nDate: D\r\nContent-Length: 2\r\n"
            "Connection: close\r\nA: b\r\n\r\nxy");
  out.clear();
  AppendResponse(out, response, /*is_head=*/true, Persistence::kKeepHttp10, "D");
  EXPECT_EQ(out,
            "HTTP/1.1 429 Too Many Requests\r\nDate: D\r\nContent-Length: 2\r\n"
            "Connection: keep-alive\r\nA: b\r\n\r\n");
  out.clear();
  response.status = 204;
  AppendResponse(out, response, /*is_head=*/false, Persistence::kKeep, "D");
  EXPECT_EQ(out, "HTTP/1.1 204 \r\nDate: D\r\nA: b\r\n\r\n");
}

}  // namespace
}  // namespace brim::net

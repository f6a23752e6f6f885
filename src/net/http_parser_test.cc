#include "net/http_parser.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brim::net {
namespace {

using Status = HttpParser::Status;

constexpr std::size_t kMaxBody = 64;

// All that a caller can learn of the first request in `bytes`, as text. They arrive in pieces of
// `piece` bytes, each into a new place in memory.
std::string Describe(std::string_view bytes, std::size_t first, std::size_t piece) {
  HttpParser parser(kMaxBody);
  std::string have;
  Status status = Status::kNeedMore;
  while (status == Status::kNeedMore && !bytes.empty()) {
    const std::string_view next = bytes.substr(0, first);
    bytes.remove_prefix(next.size());
    first = piece;
    std::string moved;
    moved.reserve(have.size() + next.size() + 1);
    moved.append(have).append(next);
    have = std::move(moved);
    std::size_t size = have.size();
    status = parser.Parse(have.data(), size);
    have.resize(size);
  }
  if (status == Status::kNeedMore) return "more";
  if (status == Status::kError) {
    return std::to_string(parser.error().status) + " " + std::string(parser.error().field);
  }
  const HttpRequest& request = parser.request();
  std::string text(request.method);
  text.append("|").append(request.path).append("|").append(request.query);
  for (const HttpHeader& header : request.headers) {
    text.append("|").append(header.name).append("=").append(header.value);
  }
  text.append("|").append(request.body).append(parser.keep_alive() ? "|keep" : "|close");
  const std::string rest = have.substr(parser.consumed()) + std::string(bytes);
  return rest.empty() ? text : text + "|rest:" + rest;
}

struct Case {
  const char* name;
  std::string bytes;
  std::string expected;
};
void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

std::string Get(std::string_view headers) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n";
}
std::string Post(std::string_view headers, std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n" + std::string(body);
}
std::string Chunked(std::string_view body) { return Post("Transfer-Encoding: chunked\r\n", body); }
std::string Line(std::string_view line) { return std::string(line) + "\r\nHost: a\r\n\r\n"; }

using namespace std::string_literals;

const Case kGood[] = {
    {"Get", Line("GET /p?q=1?2 HTTP/1.1"), "GET|/p|q=1?2|Host=a||keep"},
    {"EmptyQuery", Line("GET /p? HTTP/1.1"), "GET|/p||Host=a||keep"},
    {"OneEmptyLineBefore", "\r\n" + Get(""), "GET|/||Host=a||keep"},
    {"OwnMethod", Line("BREW //x HTTP/1.1"), "BREW|//x||Host=a||keep"},
    {"ValuesAreTrimmed", Get("A: \t b c \t\r\nB:\r\nC:d\r\n"), "GET|/||Host=a|A=b c|B=|C=d||keep"},
    {"HighBytesInValue", Get("A: \xc3\xa4\r\n"), "GET|/||Host=a|A=\xc3\xa4||keep"},
    {"Close", Get("Connection: Upgrade, CLOSE\r\n"),
     "GET|/||Host=a|Connection=Upgrade, CLOSE||close"},
    {"Http10", "GET / HTTP/1.0\r\n\r\n", "GET|/|||close"},
    {"Http10KeepAlive", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
     "GET|/||Connection=Keep-Alive||keep"},
    {"UpgradeIsIgnored", Get("Upgrade: h2c\r\n"), "GET|/||Host=a|Upgrade=h2c||keep"},
    {"HostWithPort", "GET / HTTP/1.1\r\nhOST: [::1]:80\r\n\r\n", "GET|/||hOST=[::1]:80||keep"},
    {"Body", Post("Content-Length: 3\r\n", "abc"), "POST|/||Host=a|Content-Length=3|abc|keep"},
    {"EmptyBody", Post("Content-Length: 0\r\n", ""), "POST|/||Host=a|Content-Length=0||keep"},
    {"LargestBody", Post("Content-Length: 064\r\n", std::string(64, 'x')),
     "POST|/||Host=a|Content-Length=064|" + std::string(64, 'x') + "|keep"},
    {"Pipelined", Post("Content-Length: 1\r\n", "xGET"),
     "POST|/||Host=a|Content-Length=1|x|keep|rest:GET"},
    {"Chunks", Chunked("3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\n\r\nGET"),
     "POST|/||Host=a|Transfer-Encoding=chunked|abc0123456789|keep|rest:GET"},
    {"NoChunk", Chunked("0\r\n\r\n"), "POST|/||Host=a|Transfer-Encoding=chunked||keep"},
    {"LargestChunks",
     Chunked("20\r\n" + std::string(32, 'x') + "\r\n20\r\n" + std::string(32, 'y') +
             "\r\n000\r\n\r\n"),
     "POST|/||Host=a|Transfer-Encoding=chunked|" + std::string(32, 'x') + std::string(32, 'y') +
         "|keep"},
    {"TrailersAreDropped", Chunked("1\r\nx\r\n0\r\nContent-Length: 9\r\nB: c\r\n\r\n"),
     "POST|/||Host=a|Transfer-Encoding=chunked|x|keep"},
    {"LongestRequestLine", Line("GET /" + std::string(8192 - 14, 'x') + " HTTP/1.1"),
     "GET|/" + std::string(8192 - 14, 'x') + "||Host=a||keep"},
};

const Case kBad[] = {
    // The request line.
    {"Garbage", "\x16\x03\x01\r\n", "400 "},
    {"Http09", "GET /\r\n", "400 "},
    {"TwoEmptyLinesBefore", "\r\n\r\n" + Get(""), "400 "},
    {"BareCrBefore", "\rGET / HTTP/1.1\r\n\r\n", "400 "},
    {"BareLfBefore", "\nGET / HTTP/1.1\r\n\r\n", "400 "},
    {"SpaceBefore", Line(" GET / HTTP/1.1"), "400 method"},
    {"TwoSpaces", Line("GET  / HTTP/1.1"), "400 target"},
    {"SpaceInTarget", Line("GET /a b HTTP/1.1"), "400 target"},
    {"TabsForSpaces", Line("GET\t/\tHTTP/1.1"), "400 "},
    {"SpaceAtEnd", Line("GET / HTTP/1.1 "), "400 version"},
    {"MethodNoToken", Line("GE(T / HTTP/1.1"), "400 method"},
    {"AbsoluteForm", Line("GET http://a/ HTTP/1.1"), "400 target"},
    {"AuthorityForm", Line("CONNECT a:443 HTTP/1.1"), "400 target"},
    {"AsteriskForm", Line("OPTIONS * HTTP/1.1"), "400 target"},
    {"Fragment", Line("GET /a#b HTTP/1.1"), "400 target"},
    {"NulInTarget", Line("GET /a\0b HTTP/1.1"s), "400 target"},
    {"CrInTarget", Line("GET /a\rb HTTP/1.1"), "400 target"},
    {"HighByteInTarget", Line("GET /\xc3\xa4 HTTP/1.1"), "400 target"},
    {"Version20", Line("PRI * HTTP/2.0"), "505 version"},
    {"Version12", Line("GET / HTTP/1.2"), "505 version"},
    {"Version09", Line("GET / HTTP/0.9"), "505 version"},
    {"Version110", Line("GET / HTTP/1.10"), "400 version"},
    {"VersionLowerCase", Line("GET / http/1.1"), "400 version"},
    {"RequestLineTooLong", Line("GET /" + std::string(8192 - 13, 'x') + " HTTP/1.1"), "414 target"},
    {"RequestLineEndless", "GET /" + std::string(1 << 20, 'x'), "414 target"},
    // Headers.
    {"BareLf", "GET / HTTP/1.1\nHost: a\r\n\r\n", "400 "},
    {"BareLfInHeaders", Get("A: b\nC: d\r\n"), "400 "},
    {"BareLfAtEnd", "GET / HTTP/1.1\r\nHost: a\r\n\n", "400 "},
    {"BareCrInValue", Get("A: b\rC: d\r\n"), "400 headers"},
    {"NulInValue", Get("A: b\0c\r\n"s), "400 headers"},
    {"ControlInValue", Get("A: b\x01\r\n"), "400 headers"},
    {"DelInValue", Get("A: b\x7f\r\n"), "400 headers"},
    {"NulInName", Get("A\0: b\r\n"s), "400 headers"},
    {"SpaceBeforeColon", Get("A : b\r\n"), "400 headers"},
    {"TabBeforeColon", Get("Content-Length\t: 3\r\n"), "400 headers"},
    {"EmptyName", Get(": b\r\n"), "400 headers"},
    {"NoColon", Get("A\r\n"), "400 headers"},
    {"Folded", Get("A: b\r\n c\r\n"), "400 headers"},
    {"FoldedByTab", Get("A: b\r\n\tc\r\n"), "400 headers"},
    {"FirstHeaderFolded", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400 headers"},
    {"NoHost", "GET / HTTP/1.1\r\nA: b\r\n\r\n", "400 host"},
    {"TwoHosts", Get("Host: a\r\n"), "400 host"},
    {"TwoHostsIn10", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "400 host"},
    {"HostList", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "400 host"},
    {"HostWithPath", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400 host"},
    {"HostWithUser", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", "400 host"},
    {"OtherExpectation", Get("Expect: tea\r\n"), "417 expect"},
    {"HeadersTooLarge", Get("A: " + std::string(32 << 10, 'x') + "\r\n"), "431 headers"},
    {"HeadersEndless", "GET / HTTP/1.1\r\nA: " + std::string(1 << 20, 'x'), "431 headers"},
    // Lengths.
    {"LengthAndChunked", Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
     "400 transfer-encoding"},
    {"ChunkedAndLength", Post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
     "400 transfer-encoding"},
    {"ChunkedIn10", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "400 transfer-encoding"},
    {"TwoLengths", Post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"),
     "400 content-length"},
    {"SameLengthTwice", Post("Content-Length: 3\r\ncontent-length: 3\r\n", "abc"),
     "400 content-length"},
    {"LengthList", Post("Content-Length: 3, 3\r\n", "abc"), "400 content-length"},
    {"LengthPlus", Post("Content-Length: +3\r\n", "abc"), "400 content-length"},
    {"LengthMinus", Post("Content-Length: -3\r\n", "abc"), "400 content-length"},
    {"LengthHex", Post("Content-Length: 0x3\r\n", "abc"), "400 content-length"},
    {"LengthUnderscore", Post("Content-Length: 1_0\r\n", "0123456789"), "400 content-length"},
    {"LengthEmpty", Post("Content-Length: \r\n", ""), "400 content-length"},
    {"LengthFraction", Post("Content-Length: 3.0\r\n", "abc"), "400 content-length"},
    {"BodyTooLarge", Post("Content-Length: 65\r\n", ""), "413 body"},
    {"LengthOverflow", Post("Content-Length: 18446744073709551617\r\n", ""), "413 body"},
    {"LengthOfManyDigits", Post("Content-Length: " + std::string(500, '9') + "\r\n", ""),
     "413 body"},
    // Transfer codings.
    {"TwoCodings", Post("Transfer-Encoding: gzip, chunked\r\n", ""), "400 transfer-encoding"},
    {"ChunkedTwice", Post("Transfer-Encoding: chunked, chunked\r\n", ""), "400 transfer-encoding"},
    {"ChunkedInTwoLines", Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", ""),
     "400 transfer-encoding"},
    {"ChunkedThenIdentity",
     Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", ""),
     "400 transfer-encoding"},
    {"Identity", Post("Transfer-Encoding: identity\r\n", ""), "400 transfer-encoding"},
    {"ChunkedQuoted", Post("Transfer-Encoding: \"chunked\"\r\n", ""), "400 transfer-encoding"},
    {"XChunked", Post("Transfer-Encoding: xchunked\r\n", ""), "400 transfer-encoding"},
    {"ChunkedWithVerticalTab", Post("Transfer-Encoding: \vchunked\r\n", ""), "400 headers"},
    {"CodingEmpty", Post("Transfer-Encoding:\r\n", ""), "400 transfer-encoding"},
    // Chunks.
    {"ChunkSizeHexPrefix", Chunked("0x3\r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkSizePlus", Chunked("+3\r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkSizeMinus", Chunked("-3\r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkSizeUnderscore", Chunked("1_0\r\n"), "400 body"},
    {"ChunkSizeSpaceBefore", Chunked(" 3\r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkSizeSpaceBehind", Chunked("3 \r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkSizeEmpty", Chunked("\r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkSizeNone", Chunked(";a=b\r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkSizeBareLf", Chunked("3\nabc\r\n0\r\n\r\n"), "400 "},
    {"ChunkExtensionBareCr", Chunked("3;a\rb\r\nabc\r\n0\r\n\r\n"), "400 body"},
    {"ChunkExtensionTooLong", Chunked("3;" + std::string(300, 'x') + "\r\nabc\r\n"), "400 body"},
    {"ChunkTooLong", Chunked("3\r\nabcd\r\n0\r\n\r\n"), "400 body"},
    {"ChunkTooShort", Chunked("3\r\nab\r\n0\r\n\r\n"), "400 body"},
    {"ChunkEndsInLf", Chunked("3\r\nabc\n0\r\n\r\n"), "400 body"},
    {"ChunkEndsInCr", Chunked("3\r\nabc\r0\r\n\r\n"), "400 body"},
    {"ChunkTooLarge", Chunked("41\r\n"), "413 body"},
    {"ChunksTooLarge", Chunked("40\r\n" + std::string(64, 'x') + "\r\n1\r\n"), "413 body"},
    {"ChunkSizeOverflow", Chunked("10000000000000001\r\n"), "413 body"},
    {"ChunkSizeOfManyDigits", Chunked(std::string(200, 'f') + "\r\n"), "413 body"},
    {"LastChunkBareLf", Chunked("0\r\n\n"), "400 "},
    {"TrailerFolded", Chunked("0\r\nA: b\r\n c\r\n\r\n"), "400 headers"},
    {"TrailersTooLarge", Chunked("0\r\nA: " + std::string(40'000, 'x') + "\r\n\r\n"),
     "431 headers"},
};

class HttpParserTest : public testing::TestWithParam<Case> {};

TEST_P(HttpParserTest, AnswersTheSameWhereverTheBytesAreSplit) {
  const Case& param = GetParam();
  ASSERT_EQ(Describe(param.bytes, param.bytes.size(), 1), param.expected);
  const bool is_long = param.bytes.size() > 1000;
  for (std::size_t first = 1; first < param.bytes.size(); first += is_long ? 997 : 1) {
    ASSERT_EQ(Describe(param.bytes, first, param.bytes.size()), param.expected) << first;
  }
  EXPECT_EQ(Describe(param.bytes, 1, is_long ? 499 : 1), param.expected);
}

INSTANTIATE_TEST_SUITE_P(Good, HttpParserTest, testing::ValuesIn(kGood),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Bad, HttpParserTest, testing::ValuesIn(kBad),
                         [](const auto& info) { return info.param.name; });

TEST(HttpParserTest, EveryProperPrefixOfAGoodRequestNeedsMore) {
  for (const Case& good : kGood) {
    if (good.expected.find("|rest:") != std::string::npos) continue;
    for (std::size_t size = 1; size < std::min<std::size_t>(good.bytes.size(), 500); ++size) {
      ASSERT_EQ(Describe(good.bytes.substr(0, size), size, 1), "more") << good.name << " " << size;
    }
  }
}

TEST(HttpParserTest, OneHundredHeadersAreTheMost) {
  std::string headers;
  for (int i = 0; i < 99; ++i) headers += "A: b\r\n";
  EXPECT_THAT(Describe(Get(headers), 1 << 20, 1), testing::EndsWith("|keep"));
  EXPECT_EQ(Describe(Get(headers + "A: b\r\n"), 1 << 20, 1), "431 headers");
}

TEST(HttpParserTest, TellsWhenTheClientWaitsToSendItsBody) {
  HttpParser parser(kMaxBody);
  std::string bytes = Post("Content-Length: 1\r\nExpect: 100-Continue\r\n", "");
  std::size_t size = bytes.size();
  ASSERT_EQ(parser.Parse(bytes.data(), size), Status::kNeedMore);
  EXPECT_TRUE(parser.expects_continue());
  parser.SaidContinue();
  ASSERT_EQ(parser.Parse(bytes.data(), size), Status::kNeedMore);
  EXPECT_FALSE(parser.expects_continue());
}

TEST(HttpParserTest, SmallChunksTakeNoMoreThanTheirBytes) {
  HttpParser parser(kMaxBody);
  std::string bytes = Chunked("");
  const std::size_t head = bytes.size();
  for (int i = 0; i < 64; ++i) {
    bytes += "1;some=extension\r\nx\r\n";
    std::size_t size = bytes.size();
    ASSERT_EQ(parser.Parse(bytes.data(), size), Status::kNeedMore);
    bytes.resize(size);
    ASSERT_EQ(bytes.size(), head + static_cast<std::size_t>(i) + 1);
  }
}

TEST(HttpParserTest, NothingOfARequestIsLeftForTheNext) {
  HttpParser parser(kMaxBody);
  std::string first = Chunked("1\r\nx\r\n0\r\n\r\n");
  std::size_t size = first.size();
  ASSERT_EQ(parser.Parse(first.data(), size), Status::kDone);
  parser.Reset();
  std::string second = "HEAD /b HTTP/1.0\r\n\r\n";
  size = second.size();
  ASSERT_EQ(parser.Parse(second.data(), size), Status::kDone);
  EXPECT_EQ(parser.request().path, "/b");
  EXPECT_EQ(parser.request().body, "");
  EXPECT_TRUE(parser.request().headers.empty());
  EXPECT_TRUE(parser.is_head());
  EXPECT_FALSE(parser.keep_alive());
}

}  // namespace
}  // namespace brim::net

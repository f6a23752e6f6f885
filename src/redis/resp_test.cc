#include "redis/resp.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "redis/command.h"
#include "redis/reply_error.h"
#include "redis/resp_print.h"
#include "redis/script.h"

namespace brim::redis {
namespace {

using Strings = std::vector<std::string>;

std::string Repeat(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

struct Case {
  std::string bytes;
  Strings replies;
};

const Case kCases[] = {
    {"+OK\r\n", {"+OK"}},
    {"+\r\n", {"+"}},
    {"-ERR no\r\n", {"-ERR no"}},
    {":0\r\n:-1\r\n:9223372036854775807\r\n", {":0", ":-1", ":9223372036854775807"}},
    {"$-1\r\n*-1\r\n", {"null", "null"}},
    {"$0\r\n\r\n", {"$"}},
    {"$4\r\n\r\n\r\n\r\n", {"$\r\n\r\n"}},
    {"*0\r\n", {"[]"}},
    {"*2\r\n:1\r\n$1\r\nx\r\n+next\r\n", {"[:1 $x]", "+next"}},
    {"*3\r\n*2\r\n:1\r\n*0\r\n:2\r\n*1\r\n*1\r\n-E\r\n", {"[[:1 []] :2 [[-E]]]"}},
    {Repeat("*1\r\n", limits::kMaxReplyDepth) + ":1\r\n", {"[[[[[[[[:1]]]]]]]]"}},
};

TEST(DecoderTest, ReadsTheSameHoweverTheStreamIsCut) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.bytes);
    EXPECT_EQ(DecodeForTest({c.bytes}).replies, c.replies);
    Strings single_bytes;
    for (const char byte : c.bytes) single_bytes.emplace_back(1, byte);
    EXPECT_EQ(DecodeForTest(single_bytes).replies, c.replies);
    for (std::size_t cut = 0; cut <= c.bytes.size(); ++cut) {
      const auto got = DecodeForTest({c.bytes.substr(0, cut), c.bytes.substr(cut)});
      EXPECT_EQ(got.replies, c.replies) << "cut at " << cut;
      EXPECT_EQ(got.error, "");
    }
  }
}

TEST(DecoderTest, RefusesWhatIsNotResp2) {
  const std::string kMalformed[] = {
      "HTTP/1.1 400 Bad Request\r\n",
      "\r\n",
      " +OK\r\n",
      "%1\r\n+a\r\n+b\r\n",
      "_\r\n",
      "+OK\n",
      "+O\rK\r\n",
      "+O\nK\r\n",
      ":\r\n",
      ":1x\r\n",
      ": 1\r\n",
      ":+1\r\n",
      ":9223372036854775808\r\n",
      "$\r\n",
      "$-2\r\n",
      "$-0\r\n",
      "$1x\r\n",
      "$1\r\nab\r\n",
      "$1\r\na\n\r\n",
      "*-2\r\n",
      "*x\r\n",
      "*1\r\nx\r\n",
      "*99999999999999999999\r\n",
      "*1000000\r\n",
      "$1048577\r\n",
      Repeat("*1\r\n", limits::kMaxReplyDepth + 1),
  };
  for (const std::string& bytes : kMalformed) {
    SCOPED_TRACE(bytes);
    const auto got = DecodeForTest({"+first\r\n", bytes, "+never\r\n"});
    EXPECT_EQ(got.replies, Strings{"+first"});
    EXPECT_NE(got.error, "");
  }
}

TEST(DecoderTest, BoundsTheBytesOfAReply) {
  const std::size_t header = std::strlen("$1048566\r\n") + std::strlen("\r\n");
  const std::size_t most = limits::kMaxReplyBytes - header;
  std::string fits = "$1048564\r\n";
  ASSERT_EQ(std::to_string(most), fits.substr(1, 7));
  fits.append(most, 'x').append("\r\n");
  EXPECT_EQ(DecodeForTest({fits, "+next\r\n"}).replies.size(), 2u);
  EXPECT_EQ(DecodeForTest({"*1\r\n", fits}).error, "a reply is too long");

  const std::string endless(limits::kMaxReplyBytes, 'x');
  EXPECT_EQ(DecodeForTest({"+", endless}).error, "a reply is too long");
  const std::string many = Repeat("+x\r\n", 300'000);
  EXPECT_EQ(DecodeForTest({"*300000\r\n", many}).error, "a reply is too long");
}

TEST(DecoderTest, ResetForgetsHalfAReply) {
  Decoder decoder;
  for (const std::string_view bytes : {"*2\r\n:1\r\n:2", "*1\r\n:7\r\n"}) {
    decoder.Reset();
    std::ranges::copy(bytes, decoder.Prepare().begin());
    decoder.Commit(bytes.size());
  }
  ASSERT_EQ(decoder.Next(), Decoder::Status::kReply);
  EXPECT_EQ(PrintForTest(decoder.reply()), "[:7]");
}

TEST(DecoderTest, AccessorsOfOtherTypesAreEmpty) {
  Decoder decoder;
  const std::string_view bytes = "*2\r\n:7\r\n+x\r\n";
  std::ranges::copy(bytes, decoder.Prepare().begin());
  decoder.Commit(bytes.size());
  ASSERT_EQ(decoder.Next(), Decoder::Status::kReply);
  const Reply reply = decoder.reply();
  EXPECT_EQ(reply.text(), "");
  EXPECT_EQ(reply.integer(), 0);
  EXPECT_EQ(reply[0].text(), "");
  EXPECT_EQ(reply[1].integer(), 0);
  EXPECT_EQ(reply[1].size(), 0u);
}

TEST(CommandTest, EncodesAnyBytes) {
  EXPECT_EQ(Command(1).Arg("PING").Take(), "*1\r\n$4\r\nPING\r\n");
  using namespace std::string_literals;
  const std::string binary = "a\r\n\0"s;
  EXPECT_EQ(Command(3).Arg(binary).Arg("").Arg(-15).Take(),
            "*3\r\n$4\r\na\r\n\0\r\n$0\r\n\r\n$3\r\n-15\r\n"s);
  EXPECT_EQ(Command(1).Arg(INT64_MIN).Take(), "*1\r\n$20\r\n-9223372036854775808\r\n");
}

TEST(ScriptTest, KnowsItsHash) {
  EXPECT_EQ(Script("return 1").sha1(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

TEST(ReplyErrorTest, FirstWordDecides) {
  using enum ErrorCode;
  const std::pair<const char*, ErrorCode> kTexts[] = {
      {"OOM command not allowed when used memory > 'maxmemory'.", kOutOfMemory},
      {"LOADING Redis is loading the dataset in memory", kUnavailable},
      {"BUSY Redis is busy running a script.", kUnavailable},
      {"MASTERDOWN Link with MASTER is down", kUnavailable},
      {"CLUSTERDOWN Hash slot not served", kUnavailable},
      {"TRYAGAIN Multiple keys request during rehashing of slot", kUnavailable},
      {"READONLY You can't write against a read only replica.", kUnavailable},
      {"MISCONF Redis is configured to save RDB snapshots", kUnavailable},
      {"NOREPLICAS Not enough good replicas to write.", kUnavailable},
      {"MOVED 3999 127.0.0.1:6381", kUnavailable},
      {"ASK 3999 127.0.0.1:6381", kUnavailable},
      {"NOSCRIPT No matching script.", kUnavailable},
      {"NOAUTH Authentication required.", kSetup},
      {"WRONGPASS invalid username-password pair", kSetup},
      {"NOPERM this user has no permissions", kSetup},
      {"WRONGTYPE Operation against a key", kSetup},
      {"CROSSSLOT Keys in request don't hash to the same slot", kSetup},
      {"ERR unknown command; LOADING", kSetup},
      {"OOMX", kSetup},
      {"", kSetup},
  };
  for (const auto& [text, code] : kTexts) {
    const Error error = ReplyError(text);
    EXPECT_EQ(error.code, code) << text;
    EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
  }
}

TEST(ReplyErrorTest, MessageIsBoundedAndPrintable) {
  EXPECT_EQ(Printable("a\x1b[31m\xff\n"), "a\\x1b[31m\\xff\\x0a");
  EXPECT_EQ(Printable("abcdef", 3), "abc...");
  EXPECT_LT(ReplyError(std::string(100'000, '\n')).message.size(), 1000u);
}

}  // namespace
}  // namespace brim::redis

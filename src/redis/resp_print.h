// For the tests of the decoder and its fuzz target: replies as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redis/resp.h"

namespace brim::redis {

// "[:1 $text null [+OK -ERR]]"
inline std::string PrintForTest(const Reply& reply) {
  static constexpr std::string_view kMarks = "+-:$";
  if (reply.type() == ReplyType::kNull) return "null";
  if (reply.type() == ReplyType::kInteger) {
    return std::string(":").append(std::to_string(reply.integer()));
  }
  if (reply.type() != ReplyType::kArray) {
    std::string text(1, kMarks[static_cast<std::size_t>(reply.type())]);
    return text.append(reply.text());
  }
  std::string text = "[";
  for (std::size_t i = 0; i < reply.size(); ++i) {
    if (i > 0) text += ' ';
    text += PrintForTest(reply[i]);
  }
  return text + "]";
}

struct DecodedForTest {
  std::vector<std::string> replies;
  std::string_view error;  // empty if all was well
};

// Decodes a stream that arrives in these pieces.
inline DecodedForTest DecodeForTest(const std::vector<std::string>& pieces) {
  DecodedForTest decoded;
  Decoder decoder;
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      const auto space = decoder.Prepare();
      const std::size_t bytes = piece.copy(space.data(), space.size());
      piece.remove_prefix(bytes);
      decoder.Commit(bytes);
      Decoder::Status status;
      while ((status = decoder.Next()) == Decoder::Status::kReply) {
        decoded.replies.push_back(PrintForTest(decoder.reply()));
      }
      if (status == Decoder::Status::kMalformed) {
        decoded.error = decoder.error();
        return decoded;
      }
    }
  }
  return decoded;
}

}  // namespace brim::redis

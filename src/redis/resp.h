// The Redis wire protocol, version 2, from bytes to replies. No socket: bytes are put in, replies
// come out, however the stream was cut. A reply is a flat list of nodes in depth-first order that
// the decoder uses again for the next reply, so that in steady state a reply allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brim/result.h>

namespace brim::redis {

enum class ReplyType : std::uint8_t { kSimple, kError, kInteger, kBulk, kNull, kArray };

// One value of a reply. Made by the Decoder; nobody else needs it.
struct ReplyNode {
  ReplyType type;
  std::uint32_t nodes;  // in this value, itself and all its children included
  std::int64_t number;  // kInteger: the value. kArray: how many children. Else: bytes of text
  std::size_t text;     // where the text begins, counted from the start of the reply
};

// A cheap handle on one decoded value; copy it freely. It and its views are valid until the decoder
// is touched again: within the callback that it was handed to.
class Reply {
 public:
  Reply(const ReplyNode* node, const char* bytes) : node_(node), bytes_(bytes) {}

  ReplyType type() const { return node_->type; }
  // The value of a kInteger, else 0.
  std::int64_t integer() const { return type() == ReplyType::kInteger ? node_->number : 0; }
  // Of kSimple, kBulk and kError (which appears inside arrays only), else empty.
  std::string_view text() const;
  // The children of a kArray, else 0.
  std::size_t size() const { return type() == ReplyType::kArray ? node_->number : 0; }
  // REQUIRES: i < size(). Constant time if no child before it is an array with children.
  Reply operator[](std::size_t i) const;

 private:
  const ReplyNode* node_;
  const char* bytes_;
};

// Decodes a stream of replies. After an error the stream is lost: Reset() before the next use.
// Thread-compatible.
class Decoder {
 public:
  enum class Status : std::uint8_t { kReply, kNeedMore, kMalformed };

  // Where the next bytes are to be put; never empty. Invalidates the last reply.
  std::span<char> Prepare();
  // That many bytes were put there.
  void Commit(std::size_t bytes);

  // The next complete reply, in reply(), until none is left. Stops for good at bytes that are not
  // RESP2 and at replies beyond kMaxReplyBytes or kMaxReplyDepth: error() tells which.
  Status Next();
  Reply reply() const { return Reply(nodes_.data(), buffer_.data() + start_); }
  std::string_view error() const { return error_; }

  // Forgets all bytes: for the next connection.
  void Reset();

 private:
  enum class Step : std::uint8_t { kValue, kNeedMore, kMalformed };
  struct Open {  // an array whose children are not all there
    std::size_t node;
    std::int64_t missing;
  };

  void BeginReply();
  Step ReadValue();
  Step ReadBulk(std::string_view line, std::size_t body);
  Step ReadArray(std::string_view line);
  Step Malformed(std::string_view why);
  Step FindLine(std::string_view& line);
  Step Add(ReplyType type, std::int64_t number, std::size_t text);

  std::vector<char> buffer_;
  std::size_t start_ = 0;    // of the reply at hand
  std::size_t next_ = 0;     // of the value to read next
  std::size_t scanned_ = 0;  // no line end before this
  std::size_t end_ = 0;      // of the bytes received
  bool done_ = false;        // the reply at hand is complete, and was handed out
  std::vector<ReplyNode> nodes_;
  std::vector<Open> open_;
  std::string_view error_;
};

}  // namespace brim::redis

#include "redis/resp.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/limits.h"

namespace brim::redis {
namespace {

constexpr std::size_t kReadBytes = 32 << 10;  // asked of one read, at least

// "-?[0-9]+", the whole of it, within 64 bits.
std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

// A length or a count: -1 (null), or 0 and more.
std::optional<std::int64_t> ParseSize(std::string_view text) {
  if (text == "-1") return -1;
  if (text.starts_with('-')) return std::nullopt;
  return ParseInteger(text);
}

}  // namespace

std::string_view Reply::text() const {
  const bool has_text =
      type() == ReplyType::kSimple || type() == ReplyType::kBulk || type() == ReplyType::kError;
  if (!has_text) return {};
  return {bytes_ + node_->text, static_cast<std::size_t>(node_->number)};
}

Reply Reply::operator[](std::size_t i) const {
  const ReplyNode* child = node_ + 1;
  const bool flat = node_->nodes == size() + 1;
  if (flat) return Reply(child + i, bytes_);
  for (; i > 0; --i) child += child->nodes;
  return Reply(child, bytes_);
}

std::span<char> Decoder::Prepare() {
  if (done_) BeginReply();
  if (start_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + start_, end_ - start_);
    next_ -= start_;
    scanned_ -= start_;
    end_ -= start_;
    start_ = 0;
  }
  if (buffer_.size() - end_ < kReadBytes) {
    buffer_.resize(std::max(buffer_.size() * 2, end_ + kReadBytes));
  }
  return std::span(buffer_).subspan(end_);
}

void Decoder::Commit(std::size_t bytes) { end_ += bytes; }

void Decoder::Reset() {
  start_ = next_ = scanned_ = end_ = 0;
  done_ = false;
  nodes_.clear();
  open_.clear();
  error_ = {};
}

void Decoder::BeginReply() {
  done_ = false;
  start_ = next_;
  nodes_.clear();
}

Decoder::Status Decoder::Next() {
  if (!error_.empty()) return Status::kMalformed;
  if (done_) BeginReply();
  do {
    const Step step = ReadValue();
    if (step == Step::kMalformed) return Status::kMalformed;
    const std::size_t seen = step == Step::kNeedMore ? end_ : next_;
    if (seen - start_ > limits::kMaxReplyBytes) {
      Malformed("a reply is too long");
      return Status::kMalformed;
    }
    if (step == Step::kNeedMore) return Status::kNeedMore;
  } while (!open_.empty());
  done_ = true;
  return Status::kReply;
}

// Reads one line, and the bytes of a bulk string after it, or leaves all as it was.
Decoder::Step Decoder::ReadValue() {
  std::string_view line;
  const Step step = FindLine(line);
  if (step != Step::kValue) return step;
  const char type = line.front();
  line.remove_prefix(1);
  const std::size_t text = next_ + 1 - start_;
  const std::size_t after = next_ + 1 + line.size() + 2;
  if (type == '$') return ReadBulk(line, after);

  scanned_ = next_ = after;
  if (type == '*') return ReadArray(line);
  if (type == ':') {
    const auto number = ParseInteger(line);
    if (!number) return Malformed("not an integer");
    return Add(ReplyType::kInteger, *number, text);
  }
  return Add(type == '+' ? ReplyType::kSimple : ReplyType::kError,
             static_cast<std::int64_t>(line.size()), text);
}

Decoder::Step Decoder::FindLine(std::string_view& line) {
  if (next_ == end_) return Step::kNeedMore;
  if (std::string_view("+-:$*").find(buffer_[next_]) == std::string_view::npos) {
    return Malformed("not a RESP2 reply");
  }
  const std::string_view seen(buffer_.data(), end_);
  const std::size_t line_feed = seen.find('\n', scanned_);
  if (line_feed == std::string_view::npos) {
    scanned_ = end_;
    return Step::kNeedMore;
  }
  line = seen.substr(next_, line_feed - next_);
  // The only carriage return stands right before the line feed.
  if (line.find('\r') != line.size() - 1) return Malformed("a line without CR LF");
  line.remove_suffix(1);
  return Step::kValue;
}

Decoder::Step Decoder::ReadBulk(std::string_view line, std::size_t body) {
  const auto size = ParseSize(line);
  if (!size) return Malformed("not a length");
  if (*size < 0) {
    scanned_ = next_ = body;
    return Add(ReplyType::kNull, 0, 0);
  }
  const auto bytes = static_cast<std::size_t>(*size);
  if (bytes > limits::kMaxReplyBytes) return Malformed("a reply is too long");
  if (end_ - body < bytes + 2) {
    scanned_ = next_;
    return Step::kNeedMore;
  }
  if (buffer_[body + bytes] != '\r' || buffer_[body + bytes + 1] != '\n') {
    return Malformed("a string without CR LF");
  }
  scanned_ = next_ = body + bytes + 2;
  return Add(ReplyType::kBulk, *size, body - start_);
}

Decoder::Step Decoder::ReadArray(std::string_view line) {
  constexpr std::int64_t kMinChildBytes = 3;  // "+\r\n"
  const auto size = ParseSize(line);
  if (!size) return Malformed("not a count");
  if (*size < 0) return Add(ReplyType::kNull, 0, 0);
  if (*size > static_cast<std::int64_t>(limits::kMaxReplyBytes) / kMinChildBytes) {
    return Malformed("a reply is too long");
  }
  if (open_.size() == limits::kMaxReplyDepth) return Malformed("a reply is nested too deep");
  if (*size == 0) return Add(ReplyType::kArray, 0, 0);
  open_.push_back({nodes_.size(), *size});
  nodes_.push_back({ReplyType::kArray, 1, *size, 0});
  return Step::kValue;
}

// A value is complete, and with it every array whose last child it was.
Decoder::Step Decoder::Add(ReplyType type, std::int64_t number, std::size_t text) {
  nodes_.push_back({type, 1, number, text});
  while (!open_.empty() && --open_.back().missing == 0) {
    const std::size_t array = open_.back().node;
    nodes_[array].nodes = static_cast<std::uint32_t>(nodes_.size() - array);
    open_.pop_back();
  }
  return Step::kValue;
}

Decoder::Step Decoder::Malformed(std::string_view why) {
  error_ = why;
  return Step::kMalformed;
}

}  // namespace brim::redis

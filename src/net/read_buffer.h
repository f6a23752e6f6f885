// The bytes of a connection that came and are not served yet, in one piece. Grows by doubling, so
// that a client holds no more memory than twice what it sent. The parser bounds what is kept: head
// and body.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/limits.h"

namespace brim::net {

// Loop-bound.
class ReadBuffer {
 public:
  char* data() { return bytes_.get() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }

  // Room for the next read, at least kMinRead bytes; data() may move. Commit what was read into it.
  std::span<char> Room() {
    if (capacity_ - end_ < kMinRead) MakeRoom();
    return {bytes_.get() + end_, capacity_ - end_};
  }
  void Commit(std::size_t count) { end_ += count; }

  // Drops bytes at the front, or all behind `size`.
  void Consume(std::size_t count) {
    begin_ += count;
    if (begin_ != end_) return;
    begin_ = end_ = 0;
    if (capacity_ > limits::kMaxKeptBytes) {
      bytes_.reset();
      capacity_ = 0;
    }
  }
  void Truncate(std::size_t size) { end_ = begin_ + size; }

 private:
  static constexpr std::size_t kMinRead = 1 << 10;
  static constexpr std::size_t kFirstCapacity = 8 << 10;

  void MakeRoom() {
    const std::size_t needed = size() + kMinRead;
    if (needed > capacity_ / 2) {
      Replace(std::max(kFirstCapacity, capacity_ * 2));
    } else {
      std::memmove(bytes_.get(), data(), size());
    }
    end_ = size();
    begin_ = 0;
  }

  // The bytes move to the front of a larger buffer; begin_ and end_ are the caller's to set.
  void Replace(std::size_t capacity) {
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    std::copy_n(data(), size(), bytes.get());
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace brim::net

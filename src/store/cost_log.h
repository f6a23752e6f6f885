// The log of one weighted sliding-window key: when each admitted call came, and the running sum of
// costs.
//
// A ring of 16-byte entries in one block that grows by a half and is halved when it is mostly
// empty. Plain bytes, as TimeLog is: whoever forgets a log calls Clear(). Thread-compatible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <brim/limit.h>
#include "base/assert.h"

namespace brim {

class CostLog {
 public:
  std::size_t size() const { return size_; }
  std::size_t heap_bytes() const {
    return capacity_ == 0 ? 0 : capacity_ * sizeof(Entry) + kMallocBytes;
  }

  // REQUIRES: i < size().
  std::int64_t TimeOf(std::size_t i) const { return At(i).ms; }
  std::int64_t SumUpTo(std::size_t i) const { return At(i).sum; }
  std::int64_t SumBefore(std::size_t i) const { return i == 0 ? before_ : At(i - 1).sum; }

  // How many entries are at or before `ms`.
  std::size_t CountUpTo(std::int64_t ms) const {
    std::size_t first = 0;
    for (std::size_t last = size_; first < last;) {
      const std::size_t middle = first + (last - first) / 2;
      if (At(middle).ms <= ms) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  // REQUIRES: n <= size().
  void DropOldest(std::size_t n) {
    if (n == 0) return;
    before_ = SumUpTo(n - 1);
    head_ = Position(n);
    size_ -= static_cast<std::uint32_t>(n);
    if (size_ < capacity_ / 4) Resize(size_ * 2);
  }

  // REQUIRES: not before the newest entry, cost >= 1.
  void Append(std::int64_t ms, Units cost) {
    if (size_ == capacity_) Resize(std::max<std::size_t>(4, capacity_ + capacity_ / 2));
    const std::int64_t sum = size_ == 0 ? before_ + cost : At(size_ - 1).sum + cost;
    entries_[Position(size_)] = {ms, sum};
    ++size_;
  }

  // REQUIRES: units < the oldest entry's cost.
  void TakeFromOldest(Units units) { before_ += units; }

  void Clear() {
    std::free(entries_);
    *this = CostLog();
  }

 private:
  struct Entry {
    std::int64_t ms;
    std::int64_t sum;  // of all costs up to this entry, those that have left included
  };
  static constexpr std::size_t kMallocBytes = 16;

  std::size_t Position(std::size_t i) const {
    const std::size_t at = head_ + i;
    return at < capacity_ ? at : at - capacity_;
  }
  const Entry& At(std::size_t i) const { return entries_[Position(i)]; }

  // REQUIRES: capacity >= size().
  void Resize(std::size_t capacity) {
    Entry* entries = nullptr;
    if (capacity != 0) {
      entries = static_cast<Entry*>(std::malloc(capacity * sizeof(Entry)));
      BRIM_ASSERT(entries != nullptr);
    }
    for (std::size_t i = 0; i < size_; ++i) entries[i] = At(i);
    std::free(entries_);
    entries_ = entries;
    capacity_ = static_cast<std::uint32_t>(capacity);
    head_ = 0;
  }

  Entry* entries_ = nullptr;
  std::int64_t before_ = 0;  // sum of all that has left
  std::uint32_t head_ = 0;   // where the oldest is
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace brim

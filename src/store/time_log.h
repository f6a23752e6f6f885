// The log of one sliding-window key: when each admitted unit came, oldest first.
//
// A ring of 5-byte times (40 bits of ms: 34 years). Up to kInside times live in the log itself,
// more in one block on the heap. The block grows by a half, never beyond what the limit can hold,
// and is halved when it is half empty: 5 bytes an entry at the limit, 7.5 just after growing, 10 at
// the worst, just before shrinking. Moving the entries is paid by the appends and drops between two
// resizes: O(1) each.
//
// Plain bytes, so that a table may move the slot that holds it like any other value; the price is
// that nobody frees the block by itself: whoever forgets a log calls Clear(). Thread-compatible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"

namespace brim {

class TimeLog {
 public:
  static constexpr std::size_t kInside = 5;
  static constexpr std::int64_t kMaxMs = (std::int64_t{1} << 40) - 1;

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return outside_ ? ring().capacity : kInside; }
  // What the log takes beside itself, with what the allocator adds to it.
  std::size_t heap_bytes() const { return outside_ ? BlockBytes(ring().capacity) : 0; }

  // REQUIRES: i < size().
  std::int64_t operator[](std::size_t i) const {
    if (outside_) return Load(ring().times, Position(ring(), i));
    return Load(raw_, std::min(i, kInside - 1));  // g++ does not see that there are no more
  }

  // How many entries are at or before `ms`. Mostly none: then it is one comparison.
  std::size_t CountUpTo(std::int64_t ms) const {
    std::size_t first = 0;
    std::size_t last = size_;
    if (last == 0 || (*this)[0] > ms) return 0;
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if ((*this)[middle] <= ms) {
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
    if (!outside_) {
      for (std::size_t i = n; i < std::min<std::size_t>(size_, kInside); ++i) {
        Store(raw_, i - n, Load(raw_, i));
      }
    } else {
      Ring ring = this->ring();
      ring.head = Position(ring, n);
      set_ring(ring);
    }
    size_ -= static_cast<std::uint32_t>(n);
    if (outside_ && size_ <= ring().capacity / 2) Resize(size_ + size_ / 3);
  }

  // Adds n entries at `ms`. REQUIRES: ms is 0 ... kMaxMs, and not before the newest entry.
  void Append(std::int64_t ms, std::size_t n) {
    Reserve(size_ + n, SIZE_MAX);
    for (; n != 0; --n) Set(size_++, ms);
  }

  // Forgets up to n entries of exactly this time.
  void RemoveAt(std::int64_t ms, std::size_t n) {
    const std::size_t first = CountUpTo(ms - 1);
    n = std::min(n, CountUpTo(ms) - first);
    if (n == 0) return;
    // The older ones move up, and the gap is dropped at the old end.
    for (std::size_t i = first; i != 0; --i) Set(i + n - 1, (*this)[i - 1]);
    DropOldest(n);
  }

  // Makes room for `needed` entries at once, and for more to come up to `most`.
  void Reserve(std::size_t needed, std::size_t most) {
    if (needed <= capacity()) return;
    Resize(std::max(needed, std::min(capacity() + capacity() / 2 + 1, most)));
  }

  // Empties the log and gives its block back.
  void Clear() {
    if (outside_) std::free(ring().times);
    outside_ = 0;
    size_ = 0;
  }

 private:
  static constexpr std::size_t kTimeBytes = 5;
  struct Ring {
    unsigned char* times;
    std::uint32_t head;  // where the oldest is
    std::uint32_t capacity;
  };

  // A block as glibc's malloc takes it: 8 bytes before it, in steps of 16.
  static std::size_t BlockBytes(std::size_t capacity) {
    return (capacity * kTimeBytes + 8 + 15) & ~std::size_t{15};
  }
  static std::uint32_t Position(const Ring& ring, std::size_t i) {
    const std::size_t at = ring.head + i;
    return static_cast<std::uint32_t>(at < ring.capacity ? at : at - ring.capacity);
  }
  static std::int64_t Load(const unsigned char* times, std::size_t at) {
    std::uint32_t low;
    std::memcpy(&low, times + at * kTimeBytes, sizeof(low));
    return std::int64_t{times[at * kTimeBytes + 4]} << 32 | low;
  }
  static void Store(unsigned char* times, std::size_t at, std::int64_t ms) {
    const auto low = static_cast<std::uint32_t>(ms);
    std::memcpy(times + at * kTimeBytes, &low, sizeof(low));
    times[at * kTimeBytes + 4] = static_cast<unsigned char>(ms >> 32);
  }

  void Set(std::size_t i, std::int64_t ms) {
    if (outside_) {
      Store(ring().times, Position(ring(), i), ms);
    } else {
      Store(raw_, i, ms);
    }
  }

  // REQUIRES: capacity >= size().
  void Resize(std::size_t capacity) {
    unsigned char* const old = outside_ ? ring().times : nullptr;
    unsigned char inside[kInside * kTimeBytes] = {};
    unsigned char* times = inside;
    if (capacity > kInside) {
      times = static_cast<unsigned char*>(std::malloc(capacity * kTimeBytes));
      BRIM_ASSERT(times != nullptr);
    }
    CopyTo(times);
    std::free(old);
    outside_ = capacity > kInside;
    if (outside_) {
      set_ring({.times = times, .head = 0, .capacity = static_cast<std::uint32_t>(capacity)});
    } else {
      std::memcpy(raw_, inside, sizeof(inside));
    }
  }

  // The entries in order, oldest first: the ring from its head, then from its start.
  void CopyTo(unsigned char* times) const {
    if (!outside_) {
      std::memcpy(times, raw_, kInside * kTimeBytes);
      return;
    }
    const Ring ring = this->ring();
    const std::size_t to_end = std::min<std::size_t>(size_, ring.capacity - ring.head);
    std::memcpy(times, ring.times + ring.head * kTimeBytes, to_end * kTimeBytes);
    std::memcpy(times + to_end * kTimeBytes, ring.times, (size_ - to_end) * kTimeBytes);
  }

  Ring ring() const {
    Ring ring;
    std::memcpy(&ring, raw_, sizeof(ring));
    return ring;
  }
  void set_ring(const Ring& ring) { std::memcpy(raw_, &ring, sizeof(ring)); }

  alignas(8) unsigned char raw_[28] = {};  // the times themselves, or a Ring
  std::uint32_t size_ : 31 = 0;
  std::uint32_t outside_ : 1 = 0;
};

static_assert(sizeof(TimeLog) == 32);

}  // namespace brim

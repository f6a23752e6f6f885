// A queue on one block of memory: in steady state it allocates nothing.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace brim::redis {

// Thread-compatible.
template <typename T>
class Fifo {
 public:
  bool empty() const { return head_ == items_.size(); }
  std::size_t size() const { return items_.size() - head_; }
  T& front() { return items_[head_]; }
  auto begin() { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
  auto end() { return items_.end(); }

  void Push(T item) { items_.push_back(std::move(item)); }

  // REQUIRES: not empty.
  T Pop() {
    T item = std::move(items_[head_++]);
    // The moved-from front is dropped when it is half of the block: constant time on average.
    if (head_ * 2 >= items_.size()) {
      items_.erase(items_.begin(), begin());
      head_ = 0;
    }
    return item;
  }

  void Clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
};

}  // namespace brim::redis

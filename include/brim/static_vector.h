// A short list of plain values without the heap: copying it copies only what is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

namespace brim {

// At most `N` values; REQUIRES on every push_back and resize: the list stays within N.
// Thread-compatible.
template <typename T, std::size_t N>
class StaticVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  StaticVector() {}  // not `= default`: with that, `{}` would zero all N of them first
  StaticVector(const StaticVector& other) { *this = other; }
  StaticVector& operator=(const StaticVector& other) {
    size_ = other.size_;
    if (size_ != 0) std::memmove(bytes_, other.bytes_, size_ * sizeof(T));
    return *this;
  }

  static constexpr std::size_t capacity() { return N; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == N; }
  void clear() { size_ = 0; }

  T* data() { return reinterpret_cast<T*>(bytes_); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  T& push_back(const T& value) {
    if (full()) __builtin_trap();
    return *new (&data()[size_++]) T(value);
  }
  // Made in place, of all its fields in order.
  template <typename... Fields>
  T& emplace_back(const Fields&... fields) {
    if (full()) __builtin_trap();
    return *new (&data()[size_++]) T{fields...};
  }
  void resize(std::size_t size) {
    if (size > N) __builtin_trap();
    while (size_ < size) push_back(T());
    size_ = static_cast<std::uint32_t>(size);
  }

 private:
  std::uint32_t size_ = 0;
  alignas(T) std::byte bytes_[N * sizeof(T)];  // not initialised: only the first size_ are values
};

}  // namespace brim

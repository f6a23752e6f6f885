// What names the members that a store adds to logs: 5 random bytes and a number that counts up, 48
// bits of it. So they never meet those of other processes; should they all the same, the scripts
// notice.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string_view>

#include <brim/limit.h>

namespace brim {

// Thread-safe.
class MemberNumbers {
 public:
  MemberNumbers() {
    std::random_device random;
    for (char& byte : caller_) byte = static_cast<char>(random());
    next_ = std::uint64_t{random()} << 32 | random();
  }

  std::string_view caller() const { return {caller_.data(), caller_.size()}; }
  // The first of so many.
  std::uint64_t Next(Units count) {
    return next_.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed) & kMask;
  }

 private:
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;
  std::array<char, 5> caller_;
  std::atomic<std::uint64_t> next_;
};

}  // namespace brim

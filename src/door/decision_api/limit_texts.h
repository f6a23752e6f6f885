// Limits as text, read once: clients send the same few again and again.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include <brim/limit.h>
#include <brim/result.h>
#include "base/limits.h"

namespace brim::door {

// A table with one place a hash: the newest text has it. Short texts alone are kept, and those that
// are wrong are not. Thread-compatible.
class LimitTexts {
 public:
  // As ParseLimit.
  Result<Limit> Parse(std::string_view text, Algorithm algorithm);

 private:
  struct Known {
    std::optional<Limit> limit;  // unset: the place is free
    Algorithm algorithm;         // of texts that name none, when this one was read
    std::uint8_t size;
    char text[limits::kMaxKnownLimitBytes];

    bool Is(std::string_view other, Algorithm other_algorithm) const {
      return limit && algorithm == other_algorithm && std::string_view(text, size) == other;
    }
  };

  std::array<Known, limits::kKnownLimits> known_ = {};
};

}  // namespace brim::door

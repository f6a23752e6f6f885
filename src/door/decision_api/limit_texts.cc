#include "door/decision_api/limit_texts.h"

#include <cstdint>
#include <functional>

namespace brim::door {

Result<Limit> LimitTexts::Parse(std::string_view text, Algorithm algorithm) {
  if (text.size() > limits::kMaxKnownLimitBytes) return ParseLimit(text, algorithm);
  Known& known = known_[std::hash<std::string_view>{}(text) % known_.size()];
  if (known.Is(text, algorithm)) return *known.limit;
  Result<Limit> limit = ParseLimit(text, algorithm);
  if (!limit) return limit;
  known.limit = *limit;
  known.algorithm = algorithm;
  known.size = static_cast<std::uint8_t>(text.copy(known.text, sizeof(known.text)));
  return limit;
}

}  // namespace brim::door

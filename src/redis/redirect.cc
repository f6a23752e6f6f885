#include "redis/redirect.h"

#include "base/text.h"
#include "redis/slot.h"

namespace brim::redis {

std::optional<Direction> ParseDirection(std::string_view error_text) {
  Direction direction;
  direction.ask = error_text.starts_with("ASK ");
  if (!direction.ask && !error_text.starts_with("MOVED ")) return std::nullopt;
  error_text.remove_prefix(error_text.find(' ') + 1);
  const std::size_t space = error_text.find(' ');
  if (space == error_text.npos) return std::nullopt;
  const auto slot = ParseNumber<int>(error_text.substr(0, space), kSlots - 1);
  auto to = ParseNode(error_text.substr(space + 1));
  if (!slot || !to) return std::nullopt;
  direction.slot = static_cast<std::uint16_t>(*slot);
  direction.to = *std::move(to);
  return direction;
}

}  // namespace brim::redis

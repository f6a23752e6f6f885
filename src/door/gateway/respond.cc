#include "door/gateway/respond.h"

#include <optional>

#include "base/json_writer.h"
#include "base/text.h"
#include "net/http.h"

namespace brim::door {
namespace {

constexpr std::string_view kOpen = "${";
constexpr std::string_view kQuery = "query.";

Error BadPlace(std::string_view place) {
  std::string message("\"");
  message.append(place).append("\" is no place for a value; write ${query.NAME}");
  return {ErrorCode::kInvalid, message, "respond"};
}

}  // namespace

Result<RespondTemplate> RespondTemplate::Parse(std::string_view text) {
  RespondTemplate result;
  while (true) {  // stops: each turn drops one place, or there is none left
    const std::size_t open = text.find(kOpen);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return BadPlace(text.substr(open));
    const std::string_view name = text.substr(open + kOpen.size(), close - open - kOpen.size());
    if (!name.starts_with(kQuery) || name.size() == kQuery.size()) {
      return BadPlace(text.substr(open, close + 1 - open));
    }
    result.parts_.push_back(
        {std::string(text.substr(0, open)), std::string(name.substr(kQuery.size()))});
    text.remove_prefix(close + 1);
  }
  result.parts_.push_back({std::string(text), {}});
  return result;
}

RespondTemplate::Outcome RespondTemplate::Fill(std::string_view query, std::string& out) const {
  std::string value;
  for (const Part& part : parts_) {
    out += part.text;
    if (part.parameter.empty()) continue;
    const auto encoded = net::FindQueryValue(query, part.parameter);
    if (!encoded) return {Fault::kMissing, part.parameter};
    value.clear();
    if (!AppendPercentDecoded(*encoded, value, ' ')) return {Fault::kBadEncoding, part.parameter};
    AppendJsonEscaped(value, out);
  }
  return {};
}

}  // namespace brim::door

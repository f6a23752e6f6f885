#include "cli/config_checks.h"

#include "door/gateway/respond.h"
#include "net/listen_address.h"
#include "store/store_url.h"

namespace brim::cli {
namespace {

template <typename T>
Result<void> WithoutValue(const Result<T>& result) {
  if (!result) return result.error();
  return {};
}

}  // namespace

ConfigChecks MakeConfigChecks() {
  return {
      .listen = [](std::string_view text) { return WithoutValue(net::ParseListenAddress(text)); },
      .store_url = [](std::string_view text) { return WithoutValue(ParseStoreUrl(text)); },
      .respond =
          [](std::string_view text) { return WithoutValue(door::RespondTemplate::Parse(text)); }};
}

}  // namespace brim::cli

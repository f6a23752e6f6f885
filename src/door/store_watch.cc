#include "door/store_watch.h"

#include <chrono>
#include <span>

#include "base/log.h"

namespace brim::door {

CheckRequest StoreProbe() {
  static const Limit kLimit =
      Limit::Create({.units = 1, .window = std::chrono::seconds(1)}).value();
  return {.subject = "brim-probe", .limits = std::span(&kLimit, 1), .cost = 0};
}

void StoreWatch::Change(StoreError error) {
  const StoreError before = error_.exchange(error);
  if (before == error) return;  // another thread saw the same change first
  if (error == StoreError::kNone) {
    Log(LogLevel::kInfo, "store_back");
  } else if (before == StoreError::kNone) {
    Log(LogLevel::kWarning, "store_lost", {{"error", StoreErrorName(error)}});
  }
}

}  // namespace brim::door

// brim in a program of your own: tiers are lists of limits, and a check tells what is left or how
// long to wait. Counters are in this process, or in the store that BRIM_STORE names:
//
//   BRIM_STORE=redis://127.0.0.1:6379/0 ./example_library
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <brim/brim.h>

namespace {

// Tiers live in code or configuration, not in rows per user. A user who changes tier keeps the
// counters; only the budget differs.
struct Tiers {
  std::vector<brim::Limit> free = brim::ParseLimits("5 per minute; 100 per day").value();
  std::vector<brim::Limit> pro = brim::ParseLimits("60 per minute; 5000 per day").value();
};

void Show(std::string_view tier, const brim::Decision& decision) {
  const std::string window = brim::WindowName(decision.window);
  std::cout << tier << ": ";
  if (decision.allowed()) {
    std::cout << "allowed, " << decision.remaining << " left in this " << window << "\n";
  } else if (const auto seconds = brim::RetryAfterSeconds(decision.retry_after)) {
    std::cout << "limited by the " << window << ", try again in " << *seconds << " s\n";
  } else {  // it can never fit, or the store failed and the policy is to refuse
    std::cout << "limited: " << brim::ReasonName(decision.reason) << "\n";
  }
  // A store that fails never looks like an ordinary answer.
  if (decision.store_error != brim::StoreError::kNone) {
    std::cout << "the store is " << brim::StoreErrorName(decision.store_error) << ", this is "
              << brim::ReasonName(decision.reason) << "\n";
  }
}

}  // namespace

int main() {
  const char* url = std::getenv("BRIM_STORE");
  const auto store = brim::OpenStore(url != nullptr ? url : "memory://");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 2;
  }
  brim::Limiter limiter(**store);
  const Tiers tiers;
  // Both limits are charged, or none: what the day refuses costs the minute nothing.
  for (int i = 0; i < 6; ++i) {
    Show("free", limiter.Check({.subject = "user_8421", .limits = tiers.free}));
  }
  Show("pro", limiter.Check({.subject = "user_8421", .limits = tiers.pro}));
}

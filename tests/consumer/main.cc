// The embedded API as the README shows it, against an installed brim: prints what was admitted.
#include <chrono>
#include <iostream>

#include <brim/brim.h>
#include <brim/testing.h>

using namespace std::chrono_literals;

int main() {
  brim::ManualClock clock;
  brim::MemoryStore store({.clock = &clock});
  brim::Limiter limiter(store, {.kill_switch = false});

  int admitted = 0;
  brim::Decision last;
  for (int i = 0; i < 6; ++i) {
    last = limiter.Check("user_8421", 5, 60s);
    admitted += last.allowed();
  }
  std::cout << admitted << " of 6, then wait " << *brim::RetryAfterSeconds(last.retry_after)
            << " s\n";

  clock.Advance(61s);
  std::cout << "after it: " << brim::ReasonName(limiter.Check("user_8421", 5, 60s).reason) << "\n";

  const auto limits = brim::ParseLimits("5 per minute; 100 per day").value();
  limiter.CheckAsync(
      {.subject = "user_1", .limits = limits, .cost = 1}, [](const brim::Decision& d) {
        std::cout << d.remaining << " left in this " << brim::WindowName(d.window) << "\n";
      });

  const bool opened = brim::OpenStore("memory://").ok();
  const bool refused = !brim::OpenStore("nonsense://").ok();
  std::cout << "stores: " << opened << refused << "\n";
}

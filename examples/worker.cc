// A worker that never polls: a limited check tells how long to wait, and after that the job fits.
// Here 5 jobs in any 200 ms. Workers that share a store (BRIM_STORE=redis://...) share the limit;
// then another one may be faster, and the worker is told how long to wait once more.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <brim/brim.h>

namespace {

using namespace std::chrono_literals;

struct Waits {
  int all = 0;
  int too_short = 0;
};

// Returns once the job may run; false if it never may.
bool WaitForTurn(brim::Limiter& limiter, Waits& waits) {
  bool waited = false;
  while (true) {  // stops: allowed, or never
    const brim::Decision decision = limiter.Check("worker", 5, 200ms);
    if (decision.allowed()) return true;
    if (decision.retry_after == brim::kNever) return false;
    waits.too_short += waited;
    waits.all += 1;
    waited = true;
    std::this_thread::sleep_for(decision.retry_after);
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
  const auto start = std::chrono::steady_clock::now();
  Waits waits;
  int done = 0;
  for (int job = 0; job < 12; ++job) done += WaitForTurn(limiter, waits);
  const auto took = std::chrono::steady_clock::now() - start;
  std::cout << done << " jobs done, " << waits.all << " waits, " << waits.too_short
            << " of them too short, "
            << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms\n";
}

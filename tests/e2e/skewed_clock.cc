// Loaded into a program by LD_PRELOAD, it shifts the wall clock that the program sees by
// SKEW_SECONDS; the monotonic clock stays. It stands for a replica whose clock is wrong.
#include <cstdlib>

#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

namespace {

long SkewSeconds() {
  static const long skew = [] {
    const char* text = std::getenv("SKEW_SECONDS");
    return text == nullptr ? 0L : std::atol(text);
  }();
  return skew;
}

template <typename Function>
Function Original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto original = Original<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int status = original(clock, time);
  if (status == 0 && clock == CLOCK_REALTIME) time->tv_sec += SkewSeconds();
  return status;
}

extern "C" int gettimeofday(timeval* time, void* zone) noexcept {
  static const auto original = Original<int (*)(timeval*, void*)>("gettimeofday");
  const int status = original(time, zone);
  if (status == 0) time->tv_sec += SkewSeconds();
  return status;
}

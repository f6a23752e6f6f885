// A limit: cost units per window, and how they are counted. And the text form of limits,
// "5 per minute; 100 per day", which is the same in C++, YAML, Python, HTTP and on the command
// line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <brim/clock.h>
#include <brim/result.h>

namespace brim {

using Units = std::int64_t;

inline constexpr std::size_t kMaxLines = 16;  // limits in one check

enum class Algorithm : std::uint8_t {
  kSlidingWindow,  // an exact log of every admitted unit; never more than `units` in any window
  kFixedWindow,    // one counter per window; up to twice the limit around an edge
  kTokenBucket,    // GCRA: a bucket of `burst` units, refilled all the time; constant memory
  kSlidingWindowCounter,  // two aligned counters, weighted; approximate, constant memory
};
enum class Anchor : std::uint8_t {
  kFirstHit,  // a fixed window begins with the first unit charged to it
  kAligned,   // fixed windows begin at whole multiples of their length since 1970 (UTC)
};
enum class Count : std::uint8_t {
  kAdmitted,  // a limited call charges nothing
  kAll,       // limited calls count too (fixed window and token bucket only)
};
enum class Mode : std::uint8_t {
  kEnforce,
  kShadow,  // reported, never enforced
  kOff,     // not looked at
};
enum class KeyForm : std::uint8_t {
  kFull,   // prefix:subject[:scope]:window[:algorithm]
  kPlain,  // prefix:subject (fixed window without a scope; one limit for each subject)
};

// The numbers a limit is made of. Create() turns them into a Limit, or says what is wrong.
struct LimitSpec {
  Units units = 0;   // 0 ... 10^9
  Micros window{0};  // 1 ms ... 366 days, whole milliseconds
  Algorithm algorithm = Algorithm::kSlidingWindow;
  Anchor anchor = Anchor::kFirstHit;
  Count count = Count::kAdmitted;
  Mode mode = Mode::kEnforce;
  KeyForm key = KeyForm::kFull;
  // Token bucket only: what a full bucket admits at once, 0 ... 10^9. Unset: as many as `units`.
  std::optional<Units> burst = std::nullopt;
  // Sliding window only: a log of costs instead of single units, in a key of its own. Costs up to
  // the limit; without it, a log takes a cost of n as n entries, at most 64.
  bool weighted = false;
};

// What stands behind subject and scope in the name of a limit's keys: ":60", ":1500ms:gcra";
// nothing in a plain key. Kept ready in the limit, as every check writes it.
struct KeySuffix {
  char bytes[23] = {};
  std::uint8_t size = 0;
};

// A limit that is valid by construction. A small plain value: copy it freely.
class Limit {
 public:
  static constexpr Units kMaxUnits = 1'000'000'000;
  static constexpr Micros kMinWindow = std::chrono::milliseconds(1);
  static constexpr Micros kMaxWindow = std::chrono::hours(366 * 24);

  // kInvalid with the field ("units", "window", "burst", "count", ...) and the remedy.
  static Result<Limit> Create(const LimitSpec& spec);

  Units units() const { return spec_.units; }
  Micros window() const { return spec_.window; }
  // What a full key admits at once: the largest cost that can ever fit.
  Units capacity() const {
    return spec_.algorithm == Algorithm::kTokenBucket ? burst() : spec_.units;
  }
  Units burst() const { return *spec_.burst; }  // the units, but for a token bucket
  bool weighted() const { return spec_.weighted; }
  // Of a token bucket: a unit costs `interval` ticks, and a microsecond pays `ticks_per_us` of them
  // back. window / units as a reduced fraction; of 0 units, which nothing refills, any.
  std::int64_t interval() const { return interval_; }
  std::int64_t ticks_per_us() const { return ticks_per_us_; }
  Algorithm algorithm() const { return spec_.algorithm; }
  Anchor anchor() const { return spec_.anchor; }
  Count count() const { return spec_.count; }
  Mode mode() const { return spec_.mode; }
  KeyForm key() const { return spec_.key; }
  const KeySuffix& key_suffix() const { return key_suffix_; }

  // One node's part of it: units and burst divided by `nodes`, at least 1 of each unless it is 0.
  // REQUIRES: nodes >= 1.
  Limit ShareOf(std::int64_t nodes) const;
  Limit WithMode(Mode mode) const;

 private:
  explicit Limit(const LimitSpec& spec);
  LimitSpec spec_;  // burst is set
  std::int64_t interval_;
  std::int64_t ticks_per_us_;
  KeySuffix key_suffix_;
};

// Reads one limit: "5 per minute", "100/day", "1000 per 15 minutes", "10/second fixed_window
// shadow". Case does not matter, spaces are free. `algorithm` is for a text that names none.
// kInvalid says which word is wrong and what was expected.
Result<Limit> ParseLimit(std::string_view text, Algorithm algorithm = Algorithm::kSlidingWindow);

// Reads several, separated by ';', and sorts them shortest window first (equal windows keep their
// order). kInvalid also for none, for more than kMaxLines, and for two that would share a key.
Result<std::vector<Limit>> ParseLimits(std::string_view text,
                                       Algorithm algorithm = Algorithm::kSlidingWindow);

// "5 per minute", "10 per 15 minutes fixed_window": what ParseLimit reads back to the same limit.
std::string FormatLimit(const Limit& limit);

// The window's name in answers: "second", "minute", "hour", "day", "week", else like "15m",
// "700ms".
std::string WindowName(Micros window);

// "sliding_window", "fixed_window", "token_bucket", "sliding_window_counter".
std::string_view AlgorithmName(Algorithm algorithm);
std::optional<Algorithm> ParseAlgorithm(std::string_view name);

}  // namespace brim

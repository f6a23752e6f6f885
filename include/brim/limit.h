// A limit: cost units per window, and how they are counted. And the text form of limits,
// "5 per minute; 100 per day", which is the same in C++, YAML, Python, HTTP and on the command
// line.
#pragma once

#include <brim/clock.h>
#include <brim/result.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace brim {

using Units = std::int64_t;

inline constexpr std::size_t kMaxLines = 16;  // limits in one check

enum class Algorithm : std::uint8_t {
  kSlidingWindow,  // an exact log of every admitted unit; never more than `units` in any window
  kFixedWindow,    // one counter per window; up to twice the limit around an edge
};
enum class Anchor : std::uint8_t {
  kFirstHit,  // a fixed window begins with the first unit charged to it
};
enum class Count : std::uint8_t {
  kAdmitted,  // a limited call charges nothing
  kAll,       // limited calls count too (fixed window only)
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
};

// A limit that is valid by construction. A small plain value: copy it freely.
class Limit {
 public:
  static constexpr Units kMaxUnits = 1'000'000'000;
  static constexpr Micros kMinWindow = std::chrono::milliseconds(1);
  static constexpr Micros kMaxWindow = std::chrono::hours(366 * 24);

  // kInvalid with the field ("units", "window", "count", "key") and the remedy.
  static Result<Limit> Create(const LimitSpec& spec);

  Units units() const { return spec_.units; }
  Micros window() const { return spec_.window; }
  // What a full key admits at once: the largest cost that can ever fit.
  Units capacity() const { return spec_.units; }
  Algorithm algorithm() const { return spec_.algorithm; }
  Anchor anchor() const { return spec_.anchor; }
  Count count() const { return spec_.count; }
  Mode mode() const { return spec_.mode; }
  KeyForm key() const { return spec_.key; }

  // The same limit with other units, as a tier switch or a node's share has it. Not below 0,
  // not above kMaxUnits: what is outside is brought to the nearer bound.
  Limit WithUnits(Units units) const;
  Limit WithMode(Mode mode) const;

 private:
  explicit Limit(const LimitSpec& spec) : spec_(spec) {}
  LimitSpec spec_;
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

// "sliding_window", "fixed_window".
std::string_view AlgorithmName(Algorithm algorithm);

}  // namespace brim

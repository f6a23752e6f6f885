// What the tests of the embedded store share: short words for limits, lines and steps.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <brim/memory_store.h>
#include <brim/testing.h>

namespace brim {

inline Limit MakeLimit(const LimitSpec& spec) { return Limit::Create(spec).value(); }

inline Limit Sliding(Units units, Micros window, Mode mode = Mode::kEnforce) {
  return MakeLimit({.units = units, .window = window, .mode = mode});
}

inline Limit Fixed(Units units, Micros window, Count count = Count::kAdmitted,
                   Mode mode = Mode::kEnforce) {
  return MakeLimit({.units = units,
                    .window = window,
                    .algorithm = Algorithm::kFixedWindow,
                    .count = count,
                    .mode = mode});
}

inline Key MakeKey(std::string_view text) {
  Key key;
  key.Append(text);
  return key;
}

inline Key NumberedKey(std::string_view stem, std::size_t number) {
  return MakeKey(std::string(stem) + std::to_string(number));
}

inline Line MakeLine(std::string_view key, const Limit& limit, Units cost = 1) {
  return Line(MakeKey(key), limit, cost);
}

// A store on a clock that moves only when told.
struct ManualStore {
  explicit ManualStore(std::size_t max_bytes = std::size_t{256} << 20)
      : store({.clock = &clock, .max_bytes = max_bytes}) {}

  Taken Do(Op op, std::initializer_list<Line> lines) {
    Taken taken;
    EXPECT_TRUE(store.TryNow({op, {lines.begin(), lines.size()}}, taken));
    EXPECT_EQ(taken.lines.size(), lines.size());
    return taken;
  }
  Taken Take(std::initializer_list<Line> lines) { return Do(Op::kTake, lines); }
  Taken Peek(std::initializer_list<Line> lines) { return Do(Op::kPeek, lines); }
  std::int64_t Reset(std::span<const Key> keys) {
    std::int64_t removed = -1;
    store.Reset(keys, Micros{0}, [&](Result<std::int64_t> result) { removed = result.value(); });
    return removed;
  }

  ManualClock clock;
  MemoryStore store;
};

}  // namespace brim

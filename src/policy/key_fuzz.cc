// Two keys from any bytes: equal only for equal input, short, of safe bytes, and with one hash tag.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include <fuzzer/FuzzedDataProvider.h>

#include "base/assert.h"
#include "policy/key.h"

namespace brim {
namespace {

using enum Algorithm;

struct Input {
  std::string subject;
  std::string scope;
  LimitSpec spec;

  bool plain() const { return spec.key == KeyForm::kPlain; }
  // A plain key names no window, so it does not tell two of them apart.
  bool operator==(const Input& other) const {
    const auto Named = [](const Input& input) {
      return std::make_tuple(input.plain(), input.plain() ? Micros{0} : input.spec.window,
                             input.spec.algorithm, input.spec.weighted);
    };
    return subject == other.subject && scope == other.scope && Named(*this) == Named(other);
  }
};

Input TakeInput(FuzzedDataProvider& data) {
  Input input;
  input.spec.units = 1;
  const std::int64_t number = data.ConsumeIntegralInRange<std::int64_t>(1, 100'000);
  input.spec.window =
      data.ConsumeBool() ? std::chrono::seconds(number) : Micros(std::chrono::milliseconds(number));
  input.spec.algorithm =
      data.PickValueInArray({kSlidingWindow, kFixedWindow, kTokenBucket, kSlidingWindowCounter});
  input.spec.weighted = input.spec.algorithm == kSlidingWindow && data.ConsumeBool();
  if (input.spec.algorithm == kFixedWindow && data.ConsumeBool()) {
    input.spec.key = KeyForm::kPlain;
  }
  input.subject = data.ConsumeRandomLengthString(300);
  input.scope = data.ConsumeRandomLengthString(150);
  return input;
}

void CheckTag(std::string_view key, bool hash_tag) {
  const auto opened = std::count(key.begin(), key.end(), '{');
  const auto closed = std::count(key.begin(), key.end(), '}');
  BRIM_ASSERT(opened == (hash_tag ? 1 : 0) && closed == opened);
  BRIM_ASSERT(!hash_tag || key.find('}') > key.find('{') + 1);
}

Result<Key> Build(const KeyOptions& options, const Input& input) {
  const Limit limit = Limit::Create(input.spec).value();
  Result<Key> key = BuildKey(options, input.subject, input.scope, limit);
  if (!key.ok()) {
    const bool no_subject = input.subject.empty();
    BRIM_ASSERT(no_subject || (input.plain() && !input.scope.empty()));
    BRIM_ASSERT(key.error().field == (no_subject ? "subject" : "scope"));
    return key;
  }
  const std::string_view view = key->view();
  BRIM_ASSERT(view.size() <= kMaxKeyBytes);
  BRIM_ASSERT(view.starts_with(options.prefix));
  for (const char c : view) BRIM_ASSERT(c >= ' ' && c <= '~');
  CheckTag(view, options.hash_tag);
  return key;
}

}  // namespace
}  // namespace brim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  const brim::KeyOptions options = {.hash_tag = data.ConsumeBool()};
  const brim::Input a = brim::TakeInput(data);
  const brim::Input b = brim::TakeInput(data);
  const brim::Result<brim::Key> key_a = brim::Build(options, a);
  const brim::Result<brim::Key> key_b = brim::Build(options, b);
  if (key_a.ok() && key_b.ok()) BRIM_ASSERT((*key_a == *key_b) == (a == b));
  return 0;
}

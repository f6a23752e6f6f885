// What a server has refused, so that it is not asked again before its answer can be another.
//
// A refusal says "this fits in d". The server said so at some time between our sending and our
// receiving, so until sending + d the same check would be refused again: Answer() does it here.
// Those who are told when to come again are told receiving + d, by when it surely fits. In between
// nobody here knows: FitsAt() says when to ask, so that a freed unit costs one call and not
// several.
//
// Who is admitted does not change, and no one is told to come too early; `used` and `remaining` of
// an answer from here are those of the refusal. What another process gives back, resets or raises
// is noticed after `max_age`, what this one does at once: Forget(). Rejected: remembering by the
// line that refused, for checks that only share it. They would differ in what they tell of lines
// before it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include <brim/clock.h>
#include <brim/store.h>
#include "base/limits.h"
#include "store/check_name.h"

namespace brim {

// Thread-safe. Several stores of one server may share it, as the shards of a process do.
class RejectMemory {
 public:
  // 0 remembers nothing.
  explicit RejectMemory(Micros max_age, std::size_t most_entries = limits::kMaxRefusals);

  const CheckNamer& namer() const { return namer_; }

  // Whether there is nothing here: then nobody needs a name.
  bool empty() const { return entries_.load(std::memory_order_relaxed) == 0; }  // a hint

  // The answer to a take, or to several, if it is surely refused at `now`; counted.
  std::optional<Taken> Answer(const CheckName& name, Instant now, std::size_t takes = 1);
  // The time from which on it surely fits, if that is near (kMaxHold) and the server may admit it
  // before.
  std::optional<Instant> FitsAt(const CheckName& name, Instant now);

  // To be called before a take is sent, for Remember.
  std::uint64_t VersionOf(std::span<const KeyHash> keys) const;
  // This was answered to a mergeable take (merged_take.h), by a line with this limit. Of no use if
  // one of its keys was forgotten since VersionOf.
  void Remember(const CheckName& name, const Limit& refused_by, std::uint64_t version,
                const Taken& refusal, Instant sent, Instant received);
  // Something else happens to these keys: what is known of them does not count any more.
  void Forget(std::span<const KeyHash> keys);

  std::uint64_t answered() const { return answered_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kParts = 16;
  static constexpr std::size_t kVersions = 4096;
  struct Entry {
    std::uint64_t version;
    Instant refused_until;  // by the server
    Instant fits_at;        // kNever's: never
    Instant trusted_until;
    Instant received;
    Taken taken;
  };
  struct HashOfName {
    std::size_t operator()(const KeyHash& name) const { return name.low; }
  };
  struct alignas(64) Part {
    std::mutex mu;
    std::unordered_map<KeyHash, Entry, HashOfName> entries;  // GUARDED_BY(mu)
  };

  Part& PartOf(const KeyHash& name) { return parts_[name.high % kParts]; }
  const Entry* Find(Part& part, const CheckName& name) const;

  const CheckNamer namer_;
  const Micros max_age_;
  const std::size_t most_in_part_;
  std::array<Part, kParts> parts_;
  // Counts what was forgotten, by a hash of the key: keys that share one forget together.
  std::unique_ptr<std::array<std::atomic<std::uint64_t>, kVersions>> versions_;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<std::uint64_t> answered_ = 0;
};

}  // namespace brim

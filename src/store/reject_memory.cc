#include "store/reject_memory.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "store/merged_take.h"

namespace brim {
namespace {

// How much later than at sending + d, by the real time, the server's answer may be another: logs,
// windows and counters count whole milliseconds, and the one of the answer had begun before.
Micros GrainOf(const Limit& limit) {
  return limit.algorithm() == Algorithm::kTokenBucket ? Micros(1) : Micros(1000);
}

// A refusal as it stands some time later.
Taken Aged(const Taken& refusal, Micros age) {
  Taken taken = WithoutReceipt(refusal);
  for (LineStatus& line : taken.lines) {
    line.reset_after = std::max(Micros(0), line.reset_after - age);
    if (line.retry_after != kNever) line.retry_after = std::max(Micros(0), line.retry_after - age);
  }
  return taken;
}

}  // namespace

RejectMemory::RejectMemory(Micros max_age, std::size_t most_entries)
    : max_age_(max_age),
      most_in_part_(std::max<std::size_t>(1, most_entries / kParts)),
      versions_(std::make_unique<std::array<std::atomic<std::uint64_t>, kVersions>>()) {}

const RejectMemory::Entry* RejectMemory::Find(Part& part, const CheckName& name) const {
  const auto found = part.entries.find(name.check);
  if (found == part.entries.end() || found->second.version != VersionOf(name.keys)) return nullptr;
  return &found->second;
}

std::optional<Taken> RejectMemory::Answer(const CheckName& name, Instant now, std::size_t takes) {
  Part& part = PartOf(name.check);
  const std::lock_guard lock(part.mu);
  const Entry* const entry = Find(part, name);
  if (entry == nullptr || now >= std::min(entry->refused_until, entry->trusted_until)) return {};
  answered_.fetch_add(takes, std::memory_order_relaxed);
  return Aged(entry->taken, now - entry->received);
}

std::optional<Instant> RejectMemory::FitsAt(const CheckName& name, Instant now) {
  if (empty()) return {};
  Part& part = PartOf(name.check);
  const std::lock_guard lock(part.mu);
  const Entry* const entry = Find(part, name);
  if (entry == nullptr || now < entry->refused_until) return {};
  const bool near = now < entry->fits_at && entry->fits_at - now <= limits::kMaxHold;
  return near ? std::optional(entry->fits_at) : std::nullopt;
}

std::uint64_t RejectMemory::VersionOf(std::span<const KeyHash> keys) const {
  std::uint64_t sum = 0;  // each only grows, so the sum changes with any of them
  for (const KeyHash& key : keys) sum += (*versions_)[key.low % kVersions].load();
  return sum;
}

void RejectMemory::Remember(const CheckName& name, const Limit& refused_by, std::uint64_t version,
                            const Taken& refusal, Instant sent, Instant received) {
  if (max_age_ <= Micros(0)) return;
  const Micros wait = refusal.lines[refusal.refused_line].retry_after;
  const bool never = wait == kNever;
  Entry entry{version,
              never ? Instant::max() : sent + wait - GrainOf(refused_by),
              never ? Instant::max() : received + wait,
              sent + max_age_,
              received,
              WithoutReceipt(refusal)};
  Part& part = PartOf(name.check);
  const std::lock_guard lock(part.mu);
  if (part.entries.size() >= most_in_part_ && !part.entries.contains(name.check)) {
    part.entries.erase(part.entries.begin());
    entries_.fetch_sub(1, std::memory_order_relaxed);
  }
  const bool added = part.entries.insert_or_assign(name.check, std::move(entry)).second;
  if (added) entries_.fetch_add(1, std::memory_order_relaxed);
}

void RejectMemory::Forget(std::span<const KeyHash> keys) {
  for (const KeyHash& key : keys) ++(*versions_)[key.low % kVersions];
}

}  // namespace brim

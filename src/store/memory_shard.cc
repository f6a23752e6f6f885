#include "store/memory_shard.h"

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/assert.h"

namespace brim {
namespace {

// What a table takes, with what the allocator adds to it.
std::size_t TableBytes(std::uint32_t capacity) {
  return capacity == 0 ? 0 : std::size_t{capacity} * sizeof(Slot) + 16;
}

Slot* NewTable(std::uint32_t capacity) {
  if (capacity == 0) return nullptr;
  auto* slots =
      static_cast<Slot*>(std::aligned_alloc(alignof(Slot), std::size_t{capacity} * sizeof(Slot)));
  BRIM_ASSERT(slots != nullptr);
  std::uninitialized_default_construct_n(slots, capacity);
  return slots;
}

// A key that may go. The lesser goes first.
struct Candidate {
  enum Rank { kIdle, kUnlimited, kLimited } rank;
  std::int64_t at;  // when it is full again; of a limited one: when a unit fits
  std::uint32_t index;
  auto operator<=>(const Candidate&) const = default;
};

Candidate Judge(const Slot& slot, std::uint32_t index, std::int64_t now_ms) {
  const std::int64_t idle_at = slot.IdleAt();
  if (idle_at <= now_ms) return {Candidate::kIdle, idle_at, index};
  const std::int64_t free_at = slot.FreeAt();
  if (free_at <= now_ms) return {Candidate::kUnlimited, idle_at, index};
  return {Candidate::kLimited, free_at, index};
}

}  // namespace

Shard::~Shard() {
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (slots_[i].taken) slots_[i].Clear();
  }
  std::free(slots_);
}

Slot& Shard::Insert(const KeyHash& id, SlotKind kind, std::int64_t now_ms) {
  sweep_owed_ += kSweepPerInsert;
  if (count_ + 1 > MostKeys(capacity_)) MakeSpace(now_ms);
  std::uint32_t i = Home(id);
  while (slots_[i].taken) i = Next(i);
  ++count_;
  slots_[i].Begin(id, kind);
  return slots_[i];
}

// Idle keys are forgotten on the way. Then, if a larger table would break the budget, one key goes
// instead, unless all are limited: then the table grows all the same, and the store finds the bytes
// in other shards.
void Shard::MakeSpace(std::int64_t now_ms) {
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (slots_[i].taken && slots_[i].IdleAt() <= now_ms) ClearSlot(slots_[i]);
  }
  const std::uint32_t capacity = CapacityFor(std::uint64_t{count_} + 1 + count_ / 4);
  const bool grows = capacity > capacity_;
  if (grows && budget_->Over(TableBytes(capacity) - TableBytes(capacity_))) {
    Rebuild(capacity_);
    if (count_ + 1 <= MostKeys(capacity_)) return;
    if (Slot* victim = FindVictim(now_ms)) return Evict(*victim);
  }
  Rebuild(capacity);
}

void Shard::Erase(Slot& slot) {
  Remove(slot);
  ShrinkIfSparse();
}

void Shard::Evict(Slot& slot) {
  budget_->CountEviction();
  Remove(slot);
}

void Shard::ClearSlot(Slot& slot) {
  budget_->Replace(slot.heap_bytes(), 0);
  slot.Clear();
  --count_;
}

void Shard::Remove(Slot& slot) {
  ClearSlot(slot);
  auto hole = static_cast<std::uint32_t>(&slot - slots_);
  for (std::uint32_t i = Next(hole); slots_[i].taken; i = Next(i)) {
    // A key may move up to the hole unless that lies before its home.
    if (Distance(Home(slots_[i].id), i) < Distance(hole, i)) continue;
    slots_[hole] = slots_[i];
    slots_[i].taken = false;
    hole = i;
  }
}

void Shard::ShrinkIfSparse() {
  if (count_ < capacity_ * std::uint64_t{2} / 5 || count_ == 0) {
    Rebuild(CapacityFor(std::uint64_t{count_} + count_ / 4));
  }
}

// The keys move in order of their hash, so both tables are walked from start to end, and the hand
// keeps its place.
void Shard::Rebuild(std::uint32_t capacity) {
  Slot* const old = slots_;
  const std::uint32_t old_capacity = capacity_;
  __atomic_store_n(&slots_, NewTable(capacity), __ATOMIC_RELAXED);  // Prefetch reads both unlocked
  __atomic_store_n(&capacity_, capacity, __ATOMIC_RELAXED);
  for (std::uint32_t n = 0; n < old_capacity; ++n) {
    if (!old[n].taken) continue;
    std::uint32_t i = Home(old[n].id);
    while (slots_[i].taken) i = Next(i);
    slots_[i] = old[n];
  }
  if (old_capacity != 0) {
    hand_ = static_cast<std::uint32_t>(std::uint64_t{hand_} * capacity / old_capacity);
  }
  std::free(old);
  budget_->Replace(TableBytes(old_capacity), TableBytes(capacity));
}

void Shard::Sweep(std::int64_t now_ms) {
  // Ends after as many slots as are owed. A slot that gives up its key may hold the next one now.
  for (; sweep_owed_ != 0 && capacity_ != 0; --sweep_owed_) {
    if (hand_ >= capacity_) hand_ = 0;
    Slot& slot = slots_[hand_];
    if (slot.taken && slot.IdleAt() <= now_ms) {
      Remove(slot);
    } else {
      ++hand_;
    }
  }
  sweep_owed_ = 0;
  ShrinkIfSparse();
}

// The first idle key from the hand on; else, of the first kVictimSample slots among which a key is
// not limited, the one nearest to full. None: every key is limited, which the shard remembers.
Slot* Shard::FindVictim(std::int64_t now_ms) {
  std::int64_t soonest_free = kNothingToGive;
  Slot* best = nullptr;
  Candidate best_judged{Candidate::kLimited, 0, 0};
  for (std::uint32_t n = 0; n < capacity_; ++n) {
    if (best != nullptr && n % kVictimSample == 0) break;
    if (hand_ >= capacity_) hand_ = 0;
    Slot& slot = slots_[hand_++];
    if (!slot.taken) continue;
    const Candidate judged = Judge(slot, 0, now_ms);
    if (judged.rank == Candidate::kIdle) return &slot;
    if (judged.rank == Candidate::kLimited) {
      soonest_free = std::min(soonest_free, judged.at);
    } else if (best == nullptr || judged < best_judged) {
      best = &slot;
      best_judged = judged;
    }
  }
  if (best == nullptr) gives_from_.store(soonest_free, std::memory_order_relaxed);
  return best;
}

void Shard::Shed(std::int64_t now_ms, bool limited_too) {
  std::vector<Candidate> candidates;
  candidates.reserve(count_);
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (!slots_[i].taken) continue;
    const Candidate judged = Judge(slots_[i], i, now_ms);
    if (judged.rank != Candidate::kLimited || limited_too) candidates.push_back(judged);
  }
  const std::uint32_t fewer = MostKeys(capacity_ - capacity_ / 5 - (capacity_ < 5 ? 1 : 0));
  const std::size_t surplus = count_ > fewer ? count_ - fewer : 0;
  const std::size_t going = std::min(surplus, candidates.size());
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(going),
                   candidates.end());
  for (std::size_t n = 0; n < going; ++n) {
    if (candidates[n].rank != Candidate::kIdle) budget_->CountEviction();
    ClearSlot(slots_[candidates[n].index]);
  }
  Rebuild(CapacityFor(count_));
  std::int64_t soonest_free = kNothingToGive;
  for (std::uint32_t i = 0; i < capacity_; ++i) {
    if (slots_[i].taken) soonest_free = std::min(soonest_free, slots_[i].FreeAt());
  }
  gives_from_.store(soonest_free, std::memory_order_relaxed);
}

std::uint32_t Shard::ProbesForTest(const KeyHash& id) const {
  if (capacity_ == 0) return 0;
  std::uint32_t probes = 1;
  for (std::uint32_t i = Home(id); slots_[i].taken && !(slots_[i].id == id); i = Next(i)) ++probes;
  return probes;
}

}  // namespace brim

#include "store/memory_shard.h"

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/assert.h"

namespace brim {
namespace {

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
  for (std::uint32_t i = 0; i < capacity(); ++i) {
    if (table_.taken(i)) table_[i].Clear();
  }
}

Slot& Shard::Insert(const KeyHash& id, SlotKind kind, std::int64_t now_ms) {
  sweep_owed_ += kSweepPerInsert;
  if (count_ + 1 > MostKeys(capacity())) MakeSpace(now_ms);
  ++count_;
  return table_.Add(id, kind);
}

// Idle keys are forgotten on the way. Then, if a larger table would break the budget, one key goes
// instead, unless all are limited: then the table grows all the same, and the store finds the bytes
// in other shards.
void Shard::MakeSpace(std::int64_t now_ms) {
  for (std::uint32_t i = 0; i < capacity(); ++i) {
    if (table_.taken(i) && table_[i].IdleBy(now_ms)) ClearSlot(i);
  }
  const std::uint32_t capacity = CapacityFor(std::uint64_t{count_} + 1 + count_ / 4);
  const bool grows = capacity > table_.capacity();
  if (grows &&
      budget_->Over(SlotTable::BytesOf(capacity) - SlotTable::BytesOf(table_.capacity()))) {
    Rebuild(table_.capacity());
    if (count_ + 1 <= MostKeys(table_.capacity())) return;
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

void Shard::ClearSlot(std::uint32_t i) {
  budget_->Replace(table_[i].heap_bytes(), 0);
  table_[i].Clear();
  table_.Free(i);
  --count_;
}

void Shard::Remove(Slot& slot) {
  std::uint32_t hole = table_.IndexOf(slot);
  ClearSlot(hole);
  for (std::uint32_t i = table_.Next(hole); table_.taken(i); i = table_.Next(i)) {
    // A key may move up to the hole unless that lies before its home.
    const std::uint32_t home = table_.Home(table_[i].id);
    if (table_.Distance(home, i) < table_.Distance(hole, i)) continue;
    table_.Move(i, hole);
    hole = i;
  }
}

void Shard::ShrinkIfSparse() {
  if (count_ < capacity() * std::uint64_t{2} / 5 || count_ == 0) {
    Rebuild(CapacityFor(std::uint64_t{count_} + count_ / 4));
  }
}

// The keys move in order of their hash, so both tables are walked from start to end, and the hand
// keeps its place.
void Shard::Rebuild(std::uint32_t capacity) {
  SlotTable table(capacity);
  table.TakeFrom(table_);
  table_.Swap(table);
  const std::uint32_t old_capacity = table.capacity();
  if (old_capacity != 0) {
    hand_ = static_cast<std::uint32_t>(std::uint64_t{hand_} * capacity / old_capacity);
  }
  budget_->Replace(SlotTable::BytesOf(old_capacity), SlotTable::BytesOf(capacity));
}

void Shard::Sweep(std::int64_t now_ms) {
  // Ends after as many slots as are owed. A slot that gives up its key may hold the next one now.
  for (; sweep_owed_ != 0 && capacity() != 0; --sweep_owed_) {
    if (hand_ >= capacity()) hand_ = 0;
    if (table_.taken(hand_) && table_[hand_].IdleBy(now_ms)) {
      Remove(table_[hand_]);
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
  for (std::uint32_t n = 0; n < capacity(); ++n) {
    if (best != nullptr && n % kVictimSample == 0) break;
    if (hand_ >= capacity()) hand_ = 0;
    const std::uint32_t i = hand_++;
    if (!table_.taken(i)) continue;
    Slot& slot = table_[i];
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
  for (std::uint32_t i = 0; i < capacity(); ++i) {
    if (!table_.taken(i)) continue;
    const Candidate judged = Judge(table_[i], i, now_ms);
    if (judged.rank != Candidate::kLimited || limited_too) candidates.push_back(judged);
  }
  const std::uint32_t fewer = MostKeys(capacity() - capacity() / 5 - (capacity() < 5 ? 1 : 0));
  const std::size_t surplus = count_ > fewer ? count_ - fewer : 0;
  const std::size_t going = std::min(surplus, candidates.size());
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(going),
                   candidates.end());
  for (std::size_t n = 0; n < going; ++n) {
    if (candidates[n].rank != Candidate::kIdle) budget_->CountEviction();
    ClearSlot(candidates[n].index);
  }
  Rebuild(CapacityFor(count_));
  std::int64_t soonest_free = kNothingToGive;
  for (std::uint32_t i = 0; i < capacity(); ++i) {
    if (table_.taken(i)) soonest_free = std::min(soonest_free, table_[i].FreeAt());
  }
  gives_from_.store(soonest_free, std::memory_order_relaxed);
}

std::uint32_t Shard::ProbesForTest(const KeyHash& id) const {
  const Slot* const slot = table_.Find(id);
  return slot == nullptr ? 0 : 1 + table_.Distance(table_.Home(id), table_.IndexOf(*slot));
}

}  // namespace brim

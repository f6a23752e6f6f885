// One stripe of the embedded store: a lock, and the table of the keys that fall to it.
//
// The table is at most four fifths full, grows by a quarter and shrinks when less than two fifths
// are used: 80 to 100 bytes a key while it grows. A shard of a store that is full has about 1,000
// slots (kShardBytes), so no step here takes longer than to read and move 64 KiB.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <brim/store.h>
#include "store/memory_hash.h"
#include "store/memory_lock.h"
#include "store/memory_slot.h"
#include "store/slot_table.h"

namespace brim {

// What all shards of a store take together. Changes with allocations only, not with every check.
// Relaxed throughout: the numbers order nothing, and each is right by itself. Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t most) : most_(most) {}

  void Replace(std::size_t before, std::size_t after) {
    if (before != after) used_.fetch_add(after - before, std::memory_order_relaxed);
  }
  bool Over(std::size_t more = 0) const { return used() + more > most_; }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t most() const { return most_; }

  void CountEviction() { evictions_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> evictions_{0};
  const std::size_t most_;
};

// Neither copied nor moved. Slots move when a key is inserted or removed, and only then. All times
// are the store's ms. Every call but gives_from() REQUIRES the lock.
class alignas(64) Shard {
 public:
  static constexpr std::int64_t kNothingToGive = std::numeric_limits<std::int64_t>::max();

  Shard() = default;
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;
  ~Shard();
  void Attach(MemoryBudget& budget) { budget_ = &budget; }

  void lock() { lock_.lock(); }
  bool try_lock() { return lock_.try_lock(); }
  void unlock() { lock_.unlock(); }

  // The latest time that any check brought here: threads that read the clock before they wait for
  // the lock must not take a shard back in time.
  std::int64_t Latest(std::int64_t now_us) { return latest_us_ = std::max(latest_us_, now_us); }

  Slot* Find(const KeyHash& id) const { return table_.Find(id); }
  // As the table's; the first two need no lock.
  [[gnu::always_inline]] void PrefetchTags(const KeyHash& id) const { table_.PrefetchTags(id); }
  [[gnu::always_inline]] void PrefetchHome(const KeyHash& id) const { table_.PrefetchHome(id); }
  [[gnu::always_inline]] void PrefetchSlots(const KeyHash& id) const { table_.PrefetchSlots(id); }
  // A new key that nothing was charged to yet. May evict another one to stay within the budget.
  Slot& Insert(const KeyHash& id, SlotKind kind, std::int64_t now_ms);
  void Erase(Slot& slot);
  void Evict(Slot& slot);  // an Erase that is counted

  // A take of this key alone (TakeFrom).
  void Take(Slot& slot, const Limit& limit, Units cost, const MemoryTime& now, LineStatus& status) {
    slot.units = static_cast<std::uint32_t>(limit.capacity());
    slot.Visit([&](auto& key) {
      const std::size_t before = key.heap_bytes();
      TakeFrom(key, limit, cost, now, status);
      budget_->Replace(before, key.heap_bytes());
      NoteFreeAt(key.FreeAt(slot.units));
    });
  }
  LineStatus Charge(Slot& slot, const Limit& limit, Units cost, const MemoryTime& now,
                    const LineStatus& look) {
    const std::size_t before = slot.heap_bytes();
    slot.Heal(limit, now);
    const LineStatus status =
        slot.Visit([&](auto& key) { return key.Charge(limit, cost, now, look); });
    budget_->Replace(before, slot.heap_bytes());
    NoteFreeAt(slot.FreeAt());
    return status;
  }
  void Refund(Slot& slot, const Limit& limit, Units cost, const MemoryTime& now,
              const std::int64_t* stamp) {
    const std::size_t before = slot.heap_bytes();
    slot.Heal(limit, now);
    slot.Visit([&](auto& key) { key.Refund(limit, cost, now, stamp); });
    budget_->Replace(before, slot.heap_bytes());
    NoteFreeAt(slot.FreeAt());
  }
  // Of a key that was looked at and not charged: what its limit is now, for eviction too.
  void Heal(Slot& slot, const Limit& limit, const MemoryTime& now) {
    slot.Heal(limit, now);
    NoteFreeAt(slot.FreeAt());
  }

  // Expiry: every fourth take sweeps one slot of its shard and every new key four, eight or more at
  // a time; a slot whose key goes is looked at again. So an idle key is gone after at most
  // 4 * (capacity() + count() + 8) further takes of its shard.
  void SweepSome(std::int64_t now_ms) {
    if (++takes_ % kTakesPerSlot == 0) ++sweep_owed_;
    if (sweep_owed_ >= kSweepAtOnce) Sweep(now_ms);
  }
  // And for shards that nobody calls: with every kTakesPerVisit-th take its caller visits another
  // shard, this far behind this one, and sweeps kSlotsPerVisit there. 0: no visit is due.
  std::uint32_t NextVisit() const {
    return takes_ % kTakesPerVisit == 0 ? takes_ / kTakesPerVisit : 0;
  }
  void SweepVisit(std::int64_t now_ms) {
    sweep_owed_ = kSlotsPerVisit;
    Sweep(now_ms);
  }

  // A time before which no key here is other than limited: until then there is nothing to evict.
  // It may be early, never late; a search that finds nothing corrects it. Needs no lock; relaxed,
  // as it orders nothing: whoever acts on it takes the lock first.
  std::int64_t gives_from() const { return gives_from_.load(std::memory_order_relaxed); }
  // Gives up keys until the table shrinks by a fifth: idle ones, then those that are not limited,
  // nearest to full first; limited ones, soonest free first, only if `limited_too`.
  void Shed(std::int64_t now_ms, bool limited_too);

  std::uint32_t count() const { return count_; }
  std::uint32_t capacity() const { return table_.capacity(); }
  // How far from its home a key stands: 1 is at home. 0: it is not there.
  std::uint32_t ProbesForTest(const KeyHash& id) const;

 private:
  static constexpr std::uint32_t kSweepAtOnce = 8;
  static constexpr std::uint32_t kSweepPerInsert = 4;
  static constexpr std::uint32_t kTakesPerSlot = 4;
  static constexpr std::uint32_t kTakesPerVisit = 32;
  static constexpr std::uint32_t kSlotsPerVisit = 16;
  static constexpr std::uint32_t kVictimSample = 32;

  static std::uint32_t MostKeys(std::uint64_t capacity) {
    return static_cast<std::uint32_t>(capacity * 4 / 5);
  }
  static std::uint32_t CapacityFor(std::uint64_t keys) {
    return static_cast<std::uint32_t>((keys * 5 + 3) / 4);
  }
  void NoteFreeAt(std::int64_t free_at) {
    if (free_at < gives_from()) gives_from_.store(free_at, std::memory_order_relaxed);
  }
  void Sweep(std::int64_t now_ms);
  void MakeSpace(std::int64_t now_ms);
  Slot* FindVictim(std::int64_t now_ms);
  void Remove(Slot& slot);  // leaves the capacity as it is
  void ClearSlot(std::uint32_t i);
  void ShrinkIfSparse();
  void Rebuild(std::uint32_t capacity);

  ShardLock lock_;  // guards all below
  std::uint32_t count_ = 0;
  std::uint32_t hand_ = 0;  // where sweeping and evicting go on
  std::uint32_t sweep_owed_ = 0;
  std::uint32_t takes_ = 0;
  SlotTable table_;
  std::int64_t latest_us_ = 0;
  std::atomic<std::int64_t> gives_from_{kNothingToGive};  // written under the lock, read without
  MemoryBudget* budget_ = nullptr;
};

static_assert(sizeof(Shard) == 64);

}  // namespace brim

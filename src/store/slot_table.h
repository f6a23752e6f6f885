// The table of a shard: open addressing over slots of one cache line.
//
// Linear probing; a key that goes leaves no tombstone, those behind it move up. The table may have
// any capacity: a key's home is its hash scaled to it. Beside each slot stands a tag of one byte
// that tells whether the slot is taken, and seven bits of its key's hash: a search looks at eight
// tags at once, in a line that is shared by 64 slots, and then at the one slot that it wants.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "store/memory_hash.h"
#include "store/memory_slot.h"

namespace brim {

// Owns its memory; the keys in it are its user's to Clear. REQUIRES: at least one slot stays free,
// unless there are none at all. Loop and lock are its user's: thread-compatible, but for the
// Prefetch calls.
class SlotTable {
 public:
  SlotTable() = default;
  explicit SlotTable(std::uint32_t capacity) : capacity_(capacity) {
    if (capacity == 0) return;
    void* memory = nullptr;
    BRIM_ASSERT(posix_memalign(&memory, alignof(Slot), SizeOf(capacity)) == 0);
    slots_ = static_cast<Slot*>(memory);
    std::memset(tags(), kFree, capacity);
    std::memset(tags() + capacity, kEnd, kGroup);
  }
  ~SlotTable() { std::free(slots_); }
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;

  // What a table takes, with what the allocator adds to it.
  static std::size_t BytesOf(std::uint32_t capacity) {
    return capacity == 0 ? 0 : SizeOf(capacity) + 16;
  }

  std::uint32_t capacity() const { return capacity_; }
  bool taken(std::uint32_t i) const { return tags()[i] != kFree; }
  Slot& operator[](std::uint32_t i) { return slots_[i]; }
  const Slot& operator[](std::uint32_t i) const { return slots_[i]; }
  std::uint32_t IndexOf(const Slot& slot) const {
    return static_cast<std::uint32_t>(&slot - slots_);
  }

  std::uint32_t Home(const KeyHash& id) const { return HomeIn(capacity_, id); }
  std::uint32_t Next(std::uint32_t i) const { return i + 1 == capacity_ ? 0 : i + 1; }
  // How many slots `to` lies behind `from`.
  std::uint32_t Distance(std::uint32_t from, std::uint32_t to) const {
    return to >= from ? to - from : to + capacity_ - from;
  }

  Slot* Find(const KeyHash& id) const {
    if (capacity_ == 0) return nullptr;
    const std::uint64_t wanted = kOnes * TagOf(id);
    std::uint32_t i = Home(id);
    while (true) {  // stops at a free slot
      const std::uint64_t group = LoadTags(i);
      // A hit too many is possible, at another key; it is told by its id.
      for (std::uint64_t hits = ZeroBytes(group ^ wanted); hits != 0; hits &= hits - 1) {
        Slot& slot = slots_[i + static_cast<std::uint32_t>(std::countr_zero(hits)) / 8];
        if (slot.id == id) return &slot;
      }
      if (ZeroBytes(group) != 0) return nullptr;
      i = i + kGroup < capacity_ ? i + kGroup : 0;
    }
  }
  // Makes room for a key that is not there.
  Slot& Add(const KeyHash& id, SlotKind kind) {
    Slot& slot = slots_[Occupy(id)];
    slot.Begin(id, kind);
    return slot;
  }
  void Free(std::uint32_t i) { tags()[i] = kFree; }
  void Move(std::uint32_t from, std::uint32_t to) {
    slots_[to] = slots_[from];
    tags()[to] = std::exchange(tags()[from], kFree);
  }
  // The keys of another table, in its order, into this one, which is empty.
  void TakeFrom(const SlotTable& other) {
    for (std::uint32_t n = 0; n < other.capacity_; ++n) {
      if (other.taken(n)) slots_[Occupy(other.slots_[n].id)] = other.slots_[n];
    }
  }
  // Relaxed: Prefetch reads both without a lock.
  void Swap(SlotTable& other) {
    Slot* const slots = std::exchange(other.slots_, slots_);
    const std::uint32_t capacity = std::exchange(other.capacity_, capacity_);
    __atomic_store_n(&slots_, slots, __ATOMIC_RELAXED);
    __atomic_store_n(&capacity_, capacity, __ATOMIC_RELAXED);
  }
  // Ask for what Find will read, first the tags, then the slots. PrefetchHome asks for the tags and
  // for the slot that is the likeliest: for a search that follows at once. The first two need no
  // lock: while the table is replaced they ask for useless lines, and do no harm. (Inlined always:
  // g++ takes a function that only prefetches for one without effect, and drops its calls.)
  [[gnu::always_inline]] void PrefetchTags(const KeyHash& id) const { Prefetch(id, false); }
  [[gnu::always_inline]] void PrefetchHome(const KeyHash& id) const { Prefetch(id, true); }
  [[gnu::always_inline]] void PrefetchSlots(const KeyHash& id) const {
    if (capacity_ == 0) return;
    const std::uint32_t home = Home(id);
    std::uint64_t hits = ZeroBytes(LoadTags(home) ^ (kOnes * TagOf(id)));
    for (; hits != 0; hits &= hits - 1) {
      __builtin_prefetch(&slots_[home + static_cast<std::uint32_t>(std::countr_zero(hits)) / 8], 1);
    }
  }

 private:
  static constexpr std::uint8_t kFree = 0;
  static constexpr std::uint8_t kEnd = 1;  // behind the last slot, for a whole group
  static constexpr std::uint32_t kGroup = 8;
  static constexpr std::uint64_t kOnes = 0x0101010101010101;

  static std::size_t SizeOf(std::uint32_t capacity) {
    return std::size_t{capacity} * (sizeof(Slot) + 1) + kGroup;
  }
  // By other bits than those that choose shard and home.
  static std::uint8_t TagOf(const KeyHash& id) {
    return static_cast<std::uint8_t>(0x80 | id.low >> 57);
  }
  static std::uint32_t HomeIn(std::uint64_t capacity, const KeyHash& id) {
    return static_cast<std::uint32_t>(((id.high >> 32) * capacity) >> 32);
  }
  [[gnu::always_inline]] void Prefetch(const KeyHash& id, bool home_too) const {
    const std::uint32_t capacity = __atomic_load_n(&capacity_, __ATOMIC_RELAXED);
    const Slot* const slots = __atomic_load_n(&slots_, __ATOMIC_RELAXED);
    const auto begin = reinterpret_cast<std::uintptr_t>(slots);
    const std::uint32_t home = HomeIn(capacity, id);
    if (home_too) __builtin_prefetch(reinterpret_cast<const void*>(begin + home * sizeof(Slot)), 1);
    __builtin_prefetch(reinterpret_cast<const void*>(begin + capacity * sizeof(Slot) + home));
  }
  std::uint8_t* tags() const { return reinterpret_cast<std::uint8_t*>(slots_ + capacity_); }
  // Eight tags, the first the lowest.
  std::uint64_t LoadTags(std::uint32_t i) const {
    std::uint64_t group;
    std::memcpy(&group, tags() + i, sizeof(group));
    return std::endian::native == std::endian::little ? group : __builtin_bswap64(group);
  }
  // The high bit of each byte that is zero; above the first one, maybe that of a one, too.
  static std::uint64_t ZeroBytes(std::uint64_t bytes) {
    return (bytes - kOnes) & ~bytes & (kOnes << 7);
  }
  std::uint32_t Occupy(const KeyHash& id) {
    std::uint32_t i = Home(id);
    while (taken(i)) i = Next(i);
    tags()[i] = TagOf(id);
    return i;
  }

  Slot* slots_ = nullptr;
  std::uint32_t capacity_ = 0;
};

}  // namespace brim

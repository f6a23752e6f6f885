// Coarse deadlines for many sessions: one wheel a shard, no timer object per connection or request.
//
// How it works: time is cut into ticks; a slot holds the entries that are looked at in its tick. To
// move a deadline later is one store: the entry stays in its slot and is put right when that slot
// comes up. So the deadline of a busy connection costs nothing. An entry whose deadline is further
// away than the wheel is long is looked at once a round. An entry fires at its deadline or up to
// one tick later, never before it. Loop-bound; no clock of its own: the owner calls Advance.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace brim::net {

class TimerWheel {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kTick{100};
  static constexpr Time kNever = Time::max();

  // Derive from it. It leaves its wheel when it is destroyed.
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   protected:
    virtual ~Entry() { Unlink(); }
    // The deadline has passed; the entry is out of the wheel. It may set itself again, or destroy
    // itself.
    virtual void OnTimer() = 0;

   private:
    friend class TimerWheel;
    void Unlink() {
      if (node_.next == nullptr) return;
      node_.prev->next = node_.next;
      node_.next->prev = node_.prev;
      node_ = {};
    }
    struct Node {
      Node* prev = nullptr;
      Node* next = nullptr;
      Entry* entry = nullptr;
    };
    Node node_;
    std::uint64_t slot_tick_ = 0;      // when its slot comes up; at or before deadline_tick_
    std::uint64_t deadline_tick_ = 0;  // when it fires
  };

  explicit TimerWheel(Time now) : start_(now), now_(now) {
    for (Entry::Node& head : slots_) head.prev = head.next = &head;
  }
  // Entries may outlive the wheel: they are let go.
  ~TimerWheel() {
    for (Entry::Node& head : slots_) {
      while (head.next != &head) head.next->entry->Unlink();
    }
  }
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // The deadline that lies `delay` ahead. `now` may be a tick old, hence the tick on top.
  Time In(std::chrono::milliseconds delay) const { return now_ + kTick + delay; }
  Time now() const { return now_; }  // as of the last Advance

  // Fires at `deadline`, in place of the entry's deadline so far. kNever: it does not fire.
  void Set(Entry& entry, Time deadline) {
    entry.deadline_tick_ = TickOf(deadline);
    const bool linked = entry.node_.next != nullptr;
    if (linked && entry.slot_tick_ <= entry.deadline_tick_) return;
    entry.Unlink();
    Link(entry);
  }

  void Remove(Entry& entry) { entry.Unlink(); }

  // Fires what is due at `now`. Each slot is visited at most once, however long the last call is
  // ago.
  void Advance(Time now) {
    now_ = std::max(now_, now);
    const auto until = static_cast<std::uint64_t>((now_ - start_) / kTick);
    if (until - tick_ > kSlots) tick_ = until - kSlots;
    while (tick_ < until) {
      ++tick_;
      Fire(slots_[tick_ % kSlots], until);
    }
  }

 private:
  static constexpr std::size_t kSlots = 512;

  std::uint64_t TickOf(Time deadline) const {
    const auto ahead = std::max(deadline, start_) - start_;
    return static_cast<std::uint64_t>(ahead / kTick + (ahead % kTick != ahead.zero() ? 1 : 0));
  }

  // Puts the entry into the slot of its deadline, or as near to it as the wheel reaches.
  void Link(Entry& entry) {
    entry.slot_tick_ = std::clamp(entry.deadline_tick_, tick_ + 1, tick_ + kSlots - 1);
    Insert(slots_[entry.slot_tick_ % kSlots], entry);
  }

  static void Insert(Entry::Node& head, Entry& entry) {
    entry.node_ = {.prev = head.prev, .next = &head, .entry = &entry};
    head.prev->next = &entry.node_;
    head.prev = &entry.node_;
  }

  // Stops when the slot is empty: Link never puts an entry into the slot of the current tick.
  void Fire(Entry::Node& head, std::uint64_t until) {
    while (head.next != &head) {
      Entry& entry = *head.next->entry;
      entry.Unlink();
      if (entry.deadline_tick_ <= until) {
        entry.OnTimer();
      } else {
        Link(entry);
      }
    }
  }

  const Time start_;
  Time now_;
  std::uint64_t tick_ = 0;  // the last tick that was fired
  std::array<Entry::Node, kSlots> slots_;
};

}  // namespace brim::net

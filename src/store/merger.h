// Which takes share a script call, and when it leaves. No socket, no clock: the store does what
// this says.
//
// Equal takes (of one CheckName) that arrive in one turn of the loop leave as one call at its end,
// with everything else that the turn writes: nobody waits for that. While a call of theirs is under
// way, later ones wait for its reply and then leave together. So a key that is asked rarely gains
// and loses nothing, and one that everybody asks costs one call a round trip.
//
// Program order holds: anything else that is asked of one of the keys closes the group, which
// leaves before it. Groups are found by a table of key hashes: two keys that share a place there
// close each other's groups for nothing, which costs a call. A take that could run into its
// deadline while it waits does not wait.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <brim/clock.h>
#include <brim/store.h>
#include "store/check_name.h"
#include "store/merged_take.h"

namespace brim {

// One take that waits for its answer.
struct Taker {
  Instant deadline;
  Store::Done done;
};

// Equal takes: those that wait, and the calls under way.
struct TakeGroup {
  TakeGroup(const CheckName& name, MergeableTake take) : name(name), take(std::move(take)) {}
  const CheckName name;
  MergeableTake take;
  std::vector<Taker> waiting;
  Instant not_before{};       // waiting takes leave no earlier, unless the group is closed
  Instant answer_by{};        // the latest deadline of a call under way
  std::size_t under_way = 0;  // calls
  bool due = false;           // waiting takes leave with the next LeaveDue
};

// Thread-compatible.
class Merger {
 public:
  // To be sent now: the takes of one call, and before which of their deadlines it must be answered.
  struct Call {
    std::shared_ptr<TakeGroup> group;
    std::vector<Taker> takers;  // 1 ... group->take.most_takes()
    Instant deadline;
  };
  struct Leaving {
    std::vector<Call> calls;     // in this order
    std::vector<Taker> overdue;  // are not sent any more
  };

  // Without merging each take leaves by itself, at once.
  explicit Merger(bool merges) : merges_(merges) {}

  // The group that a take of this name joins, if there is one.
  std::shared_ptr<TakeGroup> Find(const CheckName& name) const;
  std::shared_ptr<TakeGroup> Make(const CheckName& name, MergeableTake take);

  // One more take, which is not to leave before some time.
  void Add(const std::shared_ptr<TakeGroup>& group, Taker taker, Instant not_before, Instant now,
           Leaving& out);
  // Something else will be asked of these keys.
  void Close(std::span<const KeyHash> keys, Instant now, Leaving& out);
  // At the end of a turn, and at WakeAt().
  void LeaveDue(Instant now, Leaving& out);
  bool anything_due() const { return !due_.empty(); }
  // When the first of the groups that are held back may leave. Call it after LeaveDue.
  std::optional<Instant> WakeAt() const;

  // One of its calls was answered: those that wait are due, not before some time.
  void Answered(const std::shared_ptr<TakeGroup>& group, Instant not_before);
  // Those that wait get another answer than a call's.
  std::vector<Taker> TakeWaiting(TakeGroup& group);
  std::vector<Taker> TakeAllWaiting();

 private:
  static constexpr std::size_t kPlaces = 4096;
  std::shared_ptr<TakeGroup>& PlaceOf(const KeyHash& key) { return places_[key.low % kPlaces]; }
  void MakeDue(const std::shared_ptr<TakeGroup>& group);
  void Leave(const std::shared_ptr<TakeGroup>& group, Instant now, Leaving& out);
  void EraseIfIdle(const TakeGroup& group);

  struct HashOfName {
    std::size_t operator()(const KeyHash& name) const { return name.low; }
  };
  const bool merges_;
  std::unordered_map<KeyHash, std::shared_ptr<TakeGroup>, HashOfName> groups_;
  std::vector<std::shared_ptr<TakeGroup>> due_;
  // The group whose takes wait for a key; null if none does.
  std::array<std::shared_ptr<TakeGroup>, kPlaces> places_;
};

}  // namespace brim

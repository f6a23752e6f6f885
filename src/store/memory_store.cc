// A check reads the clock once, names its keys by their hash, locks their shards in order, looks at
// the lines and charges them. Then it sweeps a few slots for idle keys and, if the store is over
// its budget, evicts.
//
// Memory. Over max_bytes idle keys go first, then keys that are not limited now, nearest to full
// first (by shard, or by sample within one). A limited key goes only when no shard has another one
// to give, and then the ones that are free soonest. A call that allocates pays in the same call,
// after its own work: so the store is over max_bytes by at most what the calls under way have just
// allocated (a quarter of a shard's table, half of a log, a line), unless limited keys are so many
// that the search for others outlasts kMaxSlotsReadPerCall; then the next calls go on with it. A
// log that alone is larger than max_bytes cannot stay whoever goes for it: it is dropped at once,
// unless it is limited now, and the others stay. max_bytes must hold the largest log that the
// limits allow (5 to 10 bytes a unit).
#include <algorithm>
#include <bit>
#include <mutex>

#include <unistd.h>

#include <brim/memory_store.h>
#include "base/assert.h"
#include "base/limits.h"
#include "base/rounding.h"
#include "store/memory_shard.h"

namespace brim {
namespace {

constexpr std::size_t kMinBytes = std::size_t{64} << 10;  // a smaller max_bytes is taken as this
constexpr std::size_t kShardBytes = std::size_t{64} << 10;
constexpr std::size_t kMinShards = 64;

KeyHasher MakeHasher() {
  KeyHasher::Secrets secrets;
  for (std::uint64_t& secret : secrets) BRIM_ASSERT(getentropy(&secret, sizeof(secret)) == 0);
  return KeyHasher(secrets);
}

// One line's key, and where it is. `slot` is null if the key is not there.
struct Place {
  KeyHash id;
  Shard* shard;
  Slot* slot;
};

// Holds the locks of the places' shards, each once. Always in order of address: two checks that
// want the same shards never wait for each other in a circle.
class ShardLocks {
 public:
  ShardLocks(const Place* places, std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) Add(places[n].shard);
    for (std::size_t n = 0; n < size_; ++n) shards_[n]->lock();
  }
  ~ShardLocks() {
    for (std::size_t n = 0; n < size_; ++n) shards_[n]->unlock();
  }
  ShardLocks(const ShardLocks&) = delete;
  ShardLocks& operator=(const ShardLocks&) = delete;

  std::int64_t Latest(std::int64_t now_us) {
    for (std::size_t n = 0; n < size_; ++n) now_us = shards_[n]->Latest(now_us);
    return now_us;
  }
  void SweepSome(std::int64_t now_ms) {
    for (std::size_t n = 0; n < size_; ++n) shards_[n]->SweepSome(now_ms);
  }

 private:
  void Add(Shard* shard) {
    std::size_t at = size_;
    while (at != 0 && shards_[at - 1] > shard) --at;
    if (at != 0 && shards_[at - 1] == shard) return;
    std::move_backward(shards_ + at, shards_ + size_, shards_ + size_ + 1);
    shards_[at] = shard;
    ++size_;
  }

  std::size_t size_ = 0;
  Shard* shards_[kMaxLines];
};

// What a line counts as. More than any limit can hold is one unit more than that: it never fits,
// and no number of such calls overflows a count.
Units CostOf(const Line& line) { return std::min(line.cost, Limit::kMaxUnits + 1); }

// A cost of 0 peeks for one unit; in a take it fits always, and so does every cost of a charge.
LineStatus LookAt(Op op, const Line& line, const Slot* slot, const MemoryTime& now) {
  const Units cost = std::max<Units>(CostOf(line), 1);
  const auto look = [&](const auto& key) { return key.Look(line.limit, cost, now); };
  LineStatus status;
  if (slot != nullptr) {
    status = slot->Visit(look);
  } else {
    Slot fresh;
    fresh.Begin({}, KindOf(line.limit));
    status = fresh.Visit(look);
  }
  if (op == Op::kCharge || op == Op::kRefund || (op == Op::kTake && line.cost <= 0)) {
    status.fit = Fit::kFits;
    status.retry_after = Micros{0};
  }
  return status;
}

// Looks at the lines in order; a take ends at the enforced one that does not fit.
void LookAtAll(const Request& request, Place* places, const MemoryTime& now, Taken& taken) {
  const std::span<const Line> lines = request.lines;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    Place& place = places[n];
    place.slot = place.shard->Find(place.id);
    taken.lines[n] = LookAt(request.op, lines[n], place.slot, now);
    const bool refuses =
        taken.lines[n].fit != Fit::kFits && lines[n].limit.mode() == Mode::kEnforce;
    if (!refuses || !taken.admitted) continue;
    taken.admitted = false;
    taken.refused_line = static_cast<std::int32_t>(n);
    if (request.op == Op::kTake) return;
  }
}

bool IsCharged(const Line& line, const Taken& taken, const LineStatus& status) {
  if (line.cost <= 0) return false;
  return line.limit.count() == Count::kAll || (taken.admitted && status.fit == Fit::kFits);
}

void ChargeAll(const Request& request, Place* places, const MemoryTime& now, Taken& taken) {
  const std::span<const Line> lines = request.lines;
  const std::size_t looked_at =
      taken.admitted ? lines.size() : static_cast<std::size_t>(taken.refused_line) + 1;
  const auto charge = [&](std::size_t n, Slot& slot) {
    LineStatus& status = taken.lines[n];
    status = places[n].shard->Charge(slot, lines[n].limit, CostOf(lines[n]), now, status);
    if (request.wants_receipt && taken.admitted) {
      taken.receipt.stamps[n] =
          slot.Visit([&](const auto& key) { return key.Stamp(lines[n].limit, now); });
    }
  };
  if (request.wants_receipt && taken.admitted) {
    for (std::size_t n = 0; n < looked_at; ++n)
      taken.receipt.stamps.push_back(Receipt::kNotCharged);
  }
  // Keys that are there come first: those that are new make slots move.
  for (std::size_t n = 0; n < looked_at; ++n) {
    const auto& [id, shard, slot] = places[n];
    if (slot == nullptr) continue;
    if (IsCharged(lines[n], taken, taken.lines[n])) {
      charge(n, *slot);
    } else {
      shard->Heal(*slot, lines[n].limit, now);
    }
  }
  for (std::size_t n = 0; n < looked_at; ++n) {
    const auto& [id, shard, slot] = places[n];
    if (slot != nullptr || !IsCharged(lines[n], taken, taken.lines[n])) continue;
    charge(n, shard->Insert(id, KindOf(lines[n].limit), now.ms()));
  }
}

// A key whose receipt says that it was not charged keeps what it has.
void RefundAll(const Request& request, Place* places, const MemoryTime& now, Taken& taken) {
  const Receipt* const receipt = request.receipt;
  for (std::size_t n = 0; n < request.lines.size(); ++n) {
    const auto& [id, shard, slot] = places[n];
    const Line& line = request.lines[n];
    const std::int64_t* const stamp = receipt == nullptr ? nullptr : &receipt->stamps[n];
    if (slot == nullptr || (stamp != nullptr && *stamp == Receipt::kNotCharged)) continue;
    shard->Refund(*slot, line.limit, CostOf(line), now, stamp);
    taken.lines[n] = LookAt(request.op, line, slot, now);
  }
}

}  // namespace

class MemoryStore::Impl {
 public:
  explicit Impl(const MemoryStoreOptions& options)
      : clock_(*options.clock),
        start_(clock_.Now()),
        wall_offset_ms_(WholeMs(clock_.WallNow().time_since_epoch())),
        hasher_(MakeHasher()),
        budget_(std::max(options.max_bytes, kMinBytes)),
        shards_size_(std::clamp(std::bit_ceil(budget_.most() / kShardBytes), kMinShards,
                                limits::kMaxMemoryShards)),
        shards_(new Shard[shards_size_]) {
    for (std::size_t n = 0; n < shards_size_; ++n) shards_[n].Attach(budget_);
  }

  void TryNow(const Request& request, Taken& taken) {
    Place places[kMaxLines];
    PlaceAll(request, places);
    Run(request, places, NowUs(), taken);
  }

  void TakeNow(std::span<SingleTake> takes) {
    if (takes.size() == 1) {
      const Place place = PlaceOf(takes[0].key, KindOf(*takes[0].limit));
      place.shard->PrefetchHome(place.id);
      return TakeOne(place, takes[0], NowUs());
    }
    Place places[kGroup];
    for (; !takes.empty(); takes = takes.subspan(std::min(kGroup, takes.size()))) {
      const std::size_t count = std::min(kGroup, takes.size());
      for (std::size_t n = 0; n < count; ++n) {
        places[n] = PlaceOf(takes[n].key, KindOf(*takes[n].limit));
        __builtin_prefetch(places[n].shard, 1);
      }
      PrefetchAll(places, count);
      const std::int64_t now_us = NowUs();
      for (std::size_t n = 0; n < count; ++n) TakeOne(places[n], takes[n], now_us);
    }
  }

  // In groups: all shards, then all slots of a group are on their way from memory before the first
  // is looked at.
  void RunBatch(std::span<const Request> requests, const BatchDone& done) {
    Place places[kGroup][kMaxLines];
    for (std::size_t first = 0; first < requests.size(); first += kGroup) {
      const std::size_t count = std::min(kGroup, requests.size() - first);
      for (std::size_t n = 0; n < count; ++n) {
        PlaceAll(requests[first + n], places[n]);
        for (std::size_t i = 0; i < requests[first + n].lines.size(); ++i) {
          __builtin_prefetch(places[n][i].shard, 1);
        }
      }
      for (std::size_t n = 0; n < count; ++n) {
        PrefetchAll(places[n], requests[first + n].lines.size());
      }
      const std::int64_t now_us = NowUs();
      for (std::size_t n = 0; n < count; ++n) {
        Taken taken;
        Run(requests[first + n], places[n], now_us, taken);
        done(first + n, std::move(taken));
      }
    }
  }

  std::int64_t Reset(std::span<const Key> keys) {
    const std::int64_t now_us = NowUs();
    std::int64_t found = 0;
    for (const Key& key : keys) found += ResetKey(key, now_us) ? 1 : 0;
    return found;
  }

  Stats stats() const {
    Stats stats{.keys = 0, .bytes = budget_.used(), .evictions = budget_.evictions()};
    for (std::size_t n = 0; n < shards_size_; ++n) {
      const std::lock_guard lock(shards_[n]);
      stats.keys += shards_[n].count();
    }
    return stats;
  }

 private:
  static constexpr std::size_t kGroup = 16;

  void TakeOne(const Place& place, SingleTake& take, std::int64_t now_us) {
    Shard& shard = *place.shard;
    MemoryTime now{now_us, wall_offset_ms_};
    std::uint32_t visit = 0;
    {
      const std::lock_guard lock(shard);
      now.us = shard.Latest(now.us);
      if (Slot* const slot = shard.Find(place.id)) {
        shard.Take(*slot, *take.limit, take.cost, now, take.status);
      } else {
        TakeOfNew(place, take, now);
      }
      if (budget_.Over()) DropOutgrown(&place, 1, now.ms());
      shard.SweepSome(now.ms());
      visit = shard.NextVisit();
    }
    SweepElsewhere(shard, visit, now.ms());
  }

  // A refusal makes no key.
  void TakeOfNew(const Place& place, SingleTake& take, const MemoryTime& now) {
    const SlotKind kind = KindOf(*take.limit);
    Slot fresh;
    fresh.Begin(place.id, kind);
    take.status =
        fresh.Visit([&](const auto& key) { return key.Look(*take.limit, take.cost, now); });
    if (take.status.fit != Fit::kFits && take.limit->count() != Count::kAll) return;
    Slot& slot = place.shard->Insert(place.id, kind, now.ms());
    take.status = place.shard->Charge(slot, *take.limit, take.cost, now, take.status);
  }

  // What a take does for the rest of the store once it has let go of its own shards.
  void SweepElsewhere(const Shard& shard, std::uint32_t visit, std::int64_t now_ms) {
    if (visit != 0) Visit(static_cast<std::size_t>(&shard - shards_.get()) + visit, now_ms);
    if (budget_.Over()) MakeRoom(now_ms);
  }

  void Run(const Request& request, Place* places, std::int64_t now_us, Taken& taken) {
    const std::size_t size = request.lines.size();
    taken.admitted = true;
    taken.refused_line = -1;
    taken.lines.clear();
    taken.lines.resize(size);
    taken.receipt = {};
    if (size == 0) return;
    MemoryTime now{now_us, wall_offset_ms_};
    std::uint32_t visit = 0;
    {
      ShardLocks locks(places, size);
      now.us = locks.Latest(now.us);
      LookAtAll(request, places, now, taken);
      if (request.op == Op::kPeek) return;
      if (request.op == Op::kRefund) return RefundAll(request, places, now, taken);
      ChargeAll(request, places, now, taken);
      if (budget_.Over()) DropOutgrown(places, size, now.ms());
      locks.SweepSome(now.ms());
      visit = places[0].shard->NextVisit();
    }
    SweepElsewhere(*places[0].shard, visit, now.ms());
  }

  // Time in the store: us since it was made.
  std::int64_t NowUs() const {
    constexpr std::int64_t kMaxUs = TimeLog::kMaxMs * 1000;
    return std::clamp<std::int64_t>((clock_.Now() - start_).count(), 0, kMaxUs);
  }

  // One key under two kinds of state is two keys: their states have nothing in common.
  Place PlaceOf(std::string_view key, SlotKind kind) {
    KeyHash id = hasher_(key);
    id.high ^= static_cast<std::uint64_t>(kind);
    return {id, &shards_[id.low & (shards_size_ - 1)], nullptr};
  }
  void PlaceAll(const Request& request, Place* places) {
    for (std::size_t n = 0; n < request.lines.size(); ++n) {
      places[n] = PlaceOf(request.lines[n].key.view(), KindOf(request.lines[n].limit));
    }
  }

  // Of places whose shards are on their way.
  static void PrefetchAll(const Place* places, std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) places[n].shard->PrefetchTags(places[n].id);
    for (std::size_t n = 0; n < count; ++n) {
      const std::lock_guard lock(*places[n].shard);
      places[n].shard->PrefetchSlots(places[n].id);
    }
  }

  bool ResetKey(const Key& key, std::int64_t now_us) {
    bool found = false;
    for (const SlotKind kind : kSlotKinds) {
      const Place place = PlaceOf(key.view(), kind);
      const std::lock_guard lock(*place.shard);
      Slot* const slot = place.shard->Find(place.id);
      if (slot == nullptr) continue;
      found = found || slot->IdleAt() > place.shard->Latest(now_us) / 1000;
      place.shard->Erase(*slot);
    }
    return found;
  }

  // Forgets idle keys of a shard that may have no traffic of its own.
  void Visit(std::size_t index, std::int64_t now_ms) {
    Shard& shard = shards_[index & (shards_size_ - 1)];
    const std::unique_lock lock(shard, std::try_to_lock);
    if (lock) shard.SweepVisit(now_ms);
  }

  void DropOutgrown(const Place* places, std::size_t count, std::int64_t now_ms) {
    for (std::size_t n = 0; n < count; ++n) {
      Slot* const slot = places[n].shard->Find(places[n].id);
      if (slot == nullptr || slot->heap_bytes() <= budget_.most()) continue;
      if (slot->FreeAt() <= now_ms) places[n].shard->Evict(*slot);
    }
  }

  // Ends when the store is within its budget, or has read kMaxSlotsReadPerCall slots (and the rest
  // of a shard), or is empty.
  void MakeRoom(std::int64_t now_ms) {
    const std::unique_lock one_at_a_time(making_room_, std::try_to_lock);
    if (!one_at_a_time) return;
    std::size_t slots_read = 0;
    while (budget_.Over() && slots_read < limits::kMaxSlotsReadPerCall) {
      Shard* shard = NextToGive(now_ms);
      const bool limited_too = shard == nullptr;
      if (limited_too) shard = SoonestFree();
      if (shard == nullptr) return;
      const std::lock_guard lock(*shard);
      slots_read += shard->capacity() + 1;
      shard->Shed(now_ms, limited_too);
    }
  }
  Shard* NextToGive(std::int64_t now_ms) {
    for (std::size_t n = 0; n < shards_size_; ++n) {
      Shard& shard = shards_[hand_++ & (shards_size_ - 1)];
      if (shard.gives_from() <= now_ms) return &shard;
    }
    return nullptr;
  }
  Shard* SoonestFree() {
    Shard* soonest = nullptr;
    for (std::size_t n = 0; n < shards_size_; ++n) {
      const std::int64_t at = shards_[n].gives_from();
      if (at == Shard::kNothingToGive) continue;
      if (soonest == nullptr || at < soonest->gives_from()) soonest = &shards_[n];
    }
    return soonest;
  }

  const Clock& clock_;
  const Instant start_;
  // Wall time is the time in the store and this, whatever the wall clock does later. For windows
  // that are aligned to the epoch.
  const std::int64_t wall_offset_ms_;
  const KeyHasher hasher_;
  MemoryBudget budget_;
  const std::size_t shards_size_;  // a power of two
  const std::unique_ptr<Shard[]> shards_;
  std::mutex making_room_;
  std::size_t hand_ = 0;  // GUARDED_BY(making_room_); the shard that gives next
};

MemoryStore::MemoryStore(const MemoryStoreOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}

MemoryStore::~MemoryStore() = default;

bool MemoryStore::TryNow(const Request& request, Taken& taken) {
  impl_->TryNow(request, taken);
  return true;
}

bool MemoryStore::TakeNow(std::span<SingleTake> takes) {
  impl_->TakeNow(takes);
  return true;
}

void MemoryStore::Run(const Request& request, Micros /*timeout*/, Done done) {
  Taken taken;
  impl_->TryNow(request, taken);
  done(std::move(taken));
}

void MemoryStore::RunBatch(std::span<const Request> requests, Micros /*timeout*/, BatchDone done) {
  impl_->RunBatch(requests, done);
}

void MemoryStore::Reset(std::span<const Key> keys, Micros /*timeout*/, ResetDone done) {
  done(impl_->Reset(keys));
}

MemoryStore::Stats MemoryStore::stats() const { return impl_->stats(); }

}  // namespace brim

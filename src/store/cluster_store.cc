#include "store/cluster_store.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "redis/slot.h"
#include "store/redis_codec.h"

namespace brim {
namespace {

constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << 48) - 1;
constexpr Micros kUndoTimeout = std::chrono::seconds(1);

// Which lines go together, by index: one group a slot, in the order of their first lines.
struct Group {
  std::uint16_t slot;
  std::vector<std::size_t> members;
};

template <typename Items, typename KeyOf>
std::vector<Group> GroupBySlot(const Items& items, KeyOf key_of) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::uint16_t slot = redis::SlotOf(key_of(items[i]));
    auto group = std::ranges::find(groups, slot, &Group::slot);
    if (group == groups.end()) group = groups.insert(group, {slot, {}});
    group->members.push_back(i);
  }
  return groups;
}

bool InOneSlot(std::span<const Line> lines) {
  if (lines.size() < 2) return true;
  const std::uint16_t slot = redis::SlotOf(lines.front().key.view());
  return std::ranges::all_of(lines.subspan(1), [slot](const Line& line) {
    return redis::SlotOf(line.key.view()) == slot;
  });
}

Instant Now() { return std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now()); }

std::uint64_t RandomNumber() {
  std::random_device random;
  return ((std::uint64_t{random()} << 32) | random()) & kNumberMask;
}

}  // namespace

// One request over several slots, kept by the callback of the group that is under way.
class ClusterStore::SlotBySlot : public std::enable_shared_from_this<SlotBySlot> {
 public:
  SlotBySlot(RedisStore& nodes, const Request& request, std::uint64_t number, Micros timeout,
             Done done)
      : nodes_(nodes),
        op_(request.op),
        wants_receipt_(request.wants_receipt),
        deadline_(Now() + timeout),
        done_(std::move(done)),
        groups_(GroupBySlot(request.lines, [](const Line& line) { return line.key.view(); })) {
    for (const Line& line : request.lines) lines_.Add(line.key, line.limit, line.cost);
    given_ = op_ == Op::kRefund && request.receipt != nullptr;
    if (given_) {
      receipt_.stamps = request.receipt->stamps;
      receipt_.number = request.receipt->number;
    } else {
      receipt_.stamps.resize(lines_.size());
      std::ranges::fill(receipt_.stamps, Receipt::kNotCharged);
      receipt_.number = number;
    }
    taken_.admitted = true;
    taken_.lines.resize(lines_.size());
  }

  void RunNext() {
    const Group& group = groups_[at_];
    const CheckLines lines = LinesOf(group);
    const Receipt receipt = ReceiptOf(group);
    const bool charges = op_ == Op::kTake || op_ == Op::kCharge;
    const Request request{op_, lines, charges, charges || given_ ? &receipt : nullptr};
    nodes_.Run(request, deadline_ - Now(), [self = shared_from_this()](Result<Taken> taken) {
      taken ? self->Answered(*taken) : self->Failed(taken.error());
    });
  }

 private:
  void Answered(const Taken& part) {
    const Group& group = groups_[at_];
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      taken_.lines[group.members[i]] = part.lines[i];
      if (!given_ && !part.receipt.empty()) {
        receipt_.stamps[group.members[i]] = part.receipt.stamps[i];
      }
    }
    if (!part.admitted) Refused(static_cast<std::int32_t>(group.members[part.refused_line]));
    const bool over = !taken_.admitted && op_ == Op::kTake;
    if (over) Undo();
    if (over || ++at_ == groups_.size()) return Finish();
    RunNext();
  }

  void Refused(std::int32_t line) {
    taken_.refused_line = taken_.admitted ? line : std::min(taken_.refused_line, line);
    taken_.admitted = false;
  }

  void Finish() {
    if (wants_receipt_ && taken_.admitted && !given_) taken_.receipt = std::move(receipt_);
    done_(std::move(taken_));
  }

  // What was charged before it is given back; a charge cannot be, for it may be past its limit.
  void Failed(Error error) {
    if (op_ == Op::kTake) Undo();
    const bool half_done = at_ > 0 && (op_ == Op::kCharge || op_ == Op::kRefund);
    if (half_done) error.code = ErrorCode::kUnknown;
    done_(std::move(error));
  }

  // Nobody waits for it: what this caller asks next leaves behind it (but on a node that has yet to
  // be given the script). Denied calls stay charged where they are to count.
  void Undo() {
    for (std::size_t i = 0; i < at_; ++i) {
      CheckLines lines;
      Receipt receipt;
      receipt.number = receipt_.number;
      for (const std::size_t member : groups_[i].members) {
        const Line& line = lines_[member];
        const std::int64_t stamp = receipt_.stamps[member];
        if (stamp == Receipt::kNotCharged || line.limit.count() == Count::kAll) continue;
        lines.Add(line.key, line.limit, line.cost);
        receipt.stamps.push_back(stamp);
        LineStatus& status = taken_.lines[member];
        status.used -= line.cost;
        status.remaining = std::min(line.limit.capacity(), status.remaining + line.cost);
      }
      if (lines.empty()) continue;
      nodes_.Run({Op::kRefund, lines, false, &receipt}, kUndoTimeout, [](Result<Taken>) {});
    }
  }

  CheckLines LinesOf(const Group& group) const {
    CheckLines lines;
    for (const std::size_t i : group.members)
      lines.Add(lines_[i].key, lines_[i].limit, lines_[i].cost);
    return lines;
  }

  Receipt ReceiptOf(const Group& group) const {
    Receipt receipt;
    receipt.number = receipt_.number;
    for (const std::size_t i : group.members) receipt.stamps.push_back(receipt_.stamps[i]);
    return receipt;
  }

  RedisStore& nodes_;
  const Op op_;
  const bool wants_receipt_;
  const Instant deadline_;
  Done done_;
  const std::vector<Group> groups_;
  CheckLines lines_;
  bool given_ = false;  // receipt_ is the caller's, of a refund
  Receipt receipt_;     // of all lines
  Taken taken_;
  std::size_t at_ = 0;  // the group that is under way
};

ClusterStore::ClusterStore(std::unique_ptr<RedisStore> nodes)
    : nodes_(std::move(nodes)), next_number_(RandomNumber()) {}

ClusterStore::~ClusterStore() = default;

void ClusterStore::Run(const Request& request, Micros timeout, Done done) {
  if (InOneSlot(request.lines)) return nodes_->Run(request, timeout, std::move(done));
  const auto members = static_cast<std::uint64_t>(MembersOf(request.lines));
  const std::uint64_t number = next_number_.fetch_add(members) & kNumberMask;
  std::make_shared<SlotBySlot>(*nodes_, request, number, timeout, std::move(done))->RunNext();
}

void ClusterStore::RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) {
  const bool simple = std::ranges::all_of(
      requests, [](const Request& request) { return InOneSlot(request.lines); });
  if (simple) return nodes_->RunBatch(requests, timeout, std::move(done));
  Store::RunBatch(requests, timeout, std::move(done));
}

// Slot by slot too; the first error is the answer.
void ClusterStore::Reset(std::span<const Key> keys, Micros timeout, ResetDone done) {
  struct Sum {
    std::size_t missing;
    Result<std::int64_t> removed;
    ResetDone done;
  };
  const auto groups = GroupBySlot(keys, [](const Key& key) { return key.view(); });
  if (groups.size() < 2) return nodes_->Reset(keys, timeout, std::move(done));
  const auto sum = std::make_shared<Sum>(Sum{groups.size(), std::int64_t{0}, std::move(done)});
  for (const Group& group : groups) {
    std::vector<Key> some;
    for (const std::size_t i : group.members) some.push_back(keys[i]);
    nodes_->Reset(some, timeout, [sum](Result<std::int64_t> removed) {
      if (!removed) {
        if (sum->removed) sum->removed = removed.error();
      } else if (sum->removed) {
        *sum->removed += *removed;
      }
      if (--sum->missing == 0) sum->done(std::move(sum->removed));
    });
  }
}

}  // namespace brim

#include "store/merger.h"

#include <algorithm>
#include <iterator>

namespace brim {

std::shared_ptr<TakeGroup> Merger::Find(const CheckName& name) const {
  const auto found = groups_.find(name.check);
  return found == groups_.end() ? nullptr : found->second;
}

std::shared_ptr<TakeGroup> Merger::Make(const CheckName& name, MergeableTake take) {
  auto group = std::make_shared<TakeGroup>(name, std::move(take));
  if (merges_) groups_.emplace(name.check, group);
  return group;
}

void Merger::Add(const std::shared_ptr<TakeGroup>& group, Taker taker, Instant not_before,
                 Instant now, Leaving& out) {
  if (!merges_) {
    group->waiting.push_back(std::move(taker));
    return Leave(group, now, out);
  }
  if (group->waiting.empty()) {
    Close(group->name.keys, now, out);
    for (const KeyHash& key : group->name.keys) PlaceOf(key) = group;
  }
  const bool can_wait = taker.deadline > std::max(not_before, group->not_before);
  group->not_before = can_wait ? std::max(not_before, group->not_before) : Instant{};
  const bool answered_in_time = taker.deadline >= group->answer_by;
  group->waiting.push_back(std::move(taker));
  const bool full = group->waiting.size() >= group->take.most_takes();
  if (group->under_way == 0 || full || !answered_in_time) MakeDue(group);
}

void Merger::Close(std::span<const KeyHash> keys, Instant now, Leaving& out) {
  for (const KeyHash& key : keys) {
    if (const auto group = PlaceOf(key)) Leave(group, now, out);
  }
}

void Merger::LeaveDue(Instant now, Leaving& out) {
  std::vector<std::shared_ptr<TakeGroup>> held;
  for (const auto& group : std::exchange(due_, {})) {
    if (!group->waiting.empty() && group->not_before > now) {
      held.push_back(group);
      continue;
    }
    group->due = false;
    Leave(group, now, out);
    EraseIfIdle(*group);
  }
  due_.insert(due_.begin(), held.begin(), held.end());
}

std::optional<Instant> Merger::WakeAt() const {
  if (due_.empty()) return std::nullopt;
  return (*std::ranges::min_element(due_, {}, &TakeGroup::not_before))->not_before;
}

void Merger::Answered(const std::shared_ptr<TakeGroup>& group, Instant not_before) {
  --group->under_way;
  if (group->waiting.empty()) return EraseIfIdle(*group);
  group->not_before = not_before;
  MakeDue(group);
}

std::vector<Taker> Merger::TakeAllWaiting() {
  std::vector<Taker> all;
  for (const auto& [name, group] : groups_) {
    std::ranges::move(TakeWaiting(*group), std::back_inserter(all));
  }
  return all;
}

void Merger::MakeDue(const std::shared_ptr<TakeGroup>& group) {
  if (!std::exchange(group->due, true)) due_.push_back(group);
}

std::vector<Taker> Merger::TakeWaiting(TakeGroup& group) {
  for (const KeyHash& key : group.name.keys) {
    if (PlaceOf(key).get() == &group) PlaceOf(key) = nullptr;
  }
  group.not_before = {};
  return std::exchange(group.waiting, {});
}

// As many calls as it takes.
void Merger::Leave(const std::shared_ptr<TakeGroup>& group, Instant now, Leaving& out) {
  const std::size_t most = group->take.most_takes();
  Call* call = nullptr;
  for (Taker& taker : TakeWaiting(*group)) {
    if (taker.deadline <= now) {
      out.overdue.push_back(std::move(taker));
      continue;
    }
    if (call == nullptr || call->takers.size() == most) {
      call = &out.calls.emplace_back(group, std::vector<Taker>(), taker.deadline);
      ++group->under_way;
    }
    call->deadline = std::min(call->deadline, taker.deadline);
    group->answer_by = std::max(group->answer_by, taker.deadline);
    call->takers.push_back(std::move(taker));
  }
}

// A group that is due is still listed.
void Merger::EraseIfIdle(const TakeGroup& group) {
  if (group.waiting.empty() && group.under_way == 0 && !group.due) groups_.erase(group.name.check);
}

}  // namespace brim

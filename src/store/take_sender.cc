#include "store/take_sender.h"

#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

namespace brim {
namespace {

Instant Now() { return std::chrono::time_point_cast<Micros>(std::chrono::steady_clock::now()); }

Error Overdue() { return {ErrorCode::kUnavailable, "the check could not be sent in time", ""}; }

}  // namespace

TakeSender::TakeSender(boost::asio::io_context& io, const Parts& parts, bool merges)
    : io_(io), parts_(parts), merges_(merges), merger_(merges), timer_(io) {}

void TakeSender::Take(const std::shared_ptr<TakeGroup>& group, Micros timeout, Store::Done done) {
  const Instant now = Now();
  Instant not_before{};
  if (merges_) not_before = parts_.refusals.FitsAt(group->name, now).value_or(not_before);
  Merger::Leaving leaving;
  merger_.Add(group, {now + timeout, std::move(done)}, not_before, now, leaving);
  Dispatch(std::move(leaving));
}

void TakeSender::SendBefore(std::span<const KeyHash> keys) {
  Merger::Leaving leaving;
  merger_.Close(keys, Now(), leaving);
  Dispatch(std::move(leaving));
}

void TakeSender::Close(const Error& why) {
  timer_.cancel();
  std::vector<Taker> takers = merger_.TakeAllWaiting();
  for (Taker& taker : std::exchange(overdue_, {})) takers.push_back(std::move(taker));
  for (Taker& taker : takers) taker.done(why);
}

void TakeSender::Dispatch(Merger::Leaving leaving) {
  for (Merger::Call& call : leaving.calls) Send(std::move(call));
  for (Taker& taker : leaving.overdue) overdue_.push_back(std::move(taker));
  if (merger_.anything_due() || !overdue_.empty()) TurnSoon();
}

void TakeSender::Send(Merger::Call call) {
  MergeableTake& take = call.group->take;
  const std::size_t takes = call.takers.size();
  const redis::Script& script = take.of_logs_alone() ? parts_.take_logs : parts_.take;
  const std::string& command = take.CommandFor(takes, parts_.numbers.Next(take.numbers_of(takes)));
  parts_.counts.AddCall(takes);
  const Instant sent = Now();
  const std::uint64_t version = parts_.refusals.VersionOf(call.group->name.keys);
  parts_.client.Eval(
      script, command, call.deadline - sent,
      [this, sent, version, call = std::move(call)](const Result<redis::Reply>& reply) mutable {
        OnReply(call, sent, version, reply);
      });
}

// While the answers are handed out the call still counts as under way: who asks again in turn waits
// for the others of this turn.
void TakeSender::OnReply(Merger::Call& call, Instant sent, std::uint64_t version,
                         const Result<redis::Reply>& reply) {
  TakeGroup& group = *call.group;
  const Instant received = Now();
  const auto together = DecodeTakes(reply, group.take, call.takers.size());
  if (together && together->admitted < call.takers.size()) {
    const Taken& refusal = together->refusal;
    parts_.refusals.Remember(group.name, group.take.parts()[refusal.refused_line].limit, version,
                             refusal, sent, received);
  }
  for (std::size_t i = 0; i < call.takers.size(); ++i) {
    call.takers[i].done(together ? Result<Taken>(together->Of(i, group.take)) : together.error());
  }
  TellWaiting(group);
  merger_.Answered(call.group, parts_.refusals.FitsAt(group.name, received).value_or(Instant{}));
  if (merger_.anything_due()) TurnSoon();
}

// Those that came while the call was under way may be refused by its answer.
void TakeSender::TellWaiting(TakeGroup& group) {
  if (group.waiting.empty() || parts_.refusals.empty()) return;
  const auto refusal = parts_.refusals.Answer(group.name, Now(), group.waiting.size());
  if (!refusal) return;
  for (Taker& taker : merger_.TakeWaiting(group)) taker.done(WithoutReceipt(*refusal));
}

// Everything that is asked in this turn of the loop has been asked when this runs.
void TakeSender::TurnSoon() {
  if (std::exchange(turn_posted_, true)) return;
  boost::asio::post(io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Turn();
  });
}

void TakeSender::Turn() {
  turn_posted_ = false;
  Merger::Leaving leaving;
  merger_.LeaveDue(Now(), leaving);
  for (Merger::Call& call : leaving.calls) Send(std::move(call));
  ArmTimer();
  for (Taker& taker : leaving.overdue) taker.done(Overdue());
  for (Taker& taker : std::exchange(overdue_, {})) taker.done(Overdue());
}

// For takes that are held back.
void TakeSender::ArmTimer() {
  const auto wake_at = merger_.WakeAt();
  if (!wake_at || (armed_ && *armed_ <= *wake_at)) return;
  armed_ = wake_at;
  timer_.expires_at(*wake_at);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->armed_.reset();
    self->TurnSoon();
  });
}

}  // namespace brim

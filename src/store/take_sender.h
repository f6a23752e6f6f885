// The loop that does what the Merger says: sends the takes of a Redis store, hands out the answers
// and tells the reject memory of refusals.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <brim/clock.h>
#include <brim/store.h>
#include "redis/link.h"
#include "redis/script.h"
#include "store/member_numbers.h"
#include "store/merger.h"
#include "store/redis_counts.h"
#include "store/reject_memory.h"

namespace brim {

// Loop-bound. What it borrows outlives it, but for the client: that ends after Close(), while the
// sender is still there for its last answers.
class TakeSender : public std::enable_shared_from_this<TakeSender> {
 public:
  struct Parts {
    redis::Link& client;
    const redis::Script& take_logs;
    const redis::Script& take;
    MemberNumbers& numbers;
    RejectMemory& refusals;
    RedisCounts& counts;
  };

  TakeSender(boost::asio::io_context& io, const Parts& parts, bool merges);

  // The group of equal takes: null if there is none, and Make is to be called.
  std::shared_ptr<TakeGroup> Find(const CheckName& name) const { return merger_.Find(name); }
  std::shared_ptr<TakeGroup> Make(const CheckName& name, MergeableTake take) {
    return merger_.Make(name, std::move(take));
  }
  // One take of the group.
  void Take(const std::shared_ptr<TakeGroup>& group, Micros timeout, Store::Done done);
  // To be called before anything else is sent that touches these keys.
  void SendBefore(std::span<const KeyHash> keys);
  // Fails all takes that were not sent.
  void Close(const Error& why);

 private:
  void Dispatch(Merger::Leaving leaving);
  void Send(Merger::Call call);
  void OnReply(Merger::Call& call, Instant sent, std::uint64_t version,
               const Result<redis::Reply>& reply);
  void TellWaiting(TakeGroup& group);
  void TurnSoon();
  void Turn();
  void ArmTimer();

  boost::asio::io_context& io_;
  const Parts parts_;
  const bool merges_;
  Merger merger_;
  std::vector<Taker> overdue_;  // are told at the end of the turn
  bool turn_posted_ = false;
  boost::asio::steady_timer timer_;
  std::optional<Instant> armed_;  // when it rings
};

}  // namespace brim

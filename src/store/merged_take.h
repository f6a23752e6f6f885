// Takes that may share one script call, as a command and as its reply. lua/take_logs.lua and
// lua/take.lua describe both. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <brim/result.h>
#include <brim/store.h>
#include "redis/resp.h"

namespace brim {

// Whether equal takes may share a call: all lines are enforced and count admitted calls alone, and
// no receipt is wanted. So a take that is refused leaves no trace, one that is admitted charges
// every line, and what one of several is told follows from what the last is told.
bool IsMergeable(const Request& request);

// A take as a command that can be sent for as many equal ones as wait, and again.
// Thread-compatible.
class MergeableTake {
 public:
  struct Part {
    Limit limit;
    Units cost;
  };
  struct Scripts {
    std::string_view take_logs_sha1;
    std::string_view take_sha1;
  };

  // `caller` is the store's, 5 bytes. REQUIRES: IsMergeable.
  MergeableTake(std::span<const Line> lines, const Scripts& scripts, std::string_view caller);

  // Sliding windows alone at cost 1: take_logs.lua is for these, take.lua for all others.
  bool of_logs_alone() const { return of_logs_alone_; }
  std::span<const Part> parts() const { return parts_; }  // one a line
  // That may share a call, so that the work of one stays bounded.
  std::size_t most_takes() const { return most_takes_; }
  // How many numbers so many takes use up to name their members.
  Units numbers_of(std::size_t takes) const;

  // The command for so many takes, whose members are named from `number` on (48 bits).
  // REQUIRES: 1 ... most_takes().
  const std::string& CommandFor(std::size_t takes, std::uint64_t number);

 private:
  void EncodeLogs(std::span<const Line> lines, std::string_view sha1, std::string_view caller);
  void Encode(std::span<const Line> lines, std::string_view sha1, std::string_view caller);

  std::vector<Part> parts_;
  bool of_logs_alone_;
  Units members_;  // of one take
  std::size_t most_takes_;
  std::string command_;
  std::size_t number_at_ = 0;  // in command_, of fixed width
  std::size_t takes_at_ = 0;
};

// A copy; receipts are not copied.
Taken WithoutReceipt(const Taken& taken);

// The answers to the takes of one call: those that single calls, one after the other at one
// instant, would have got.
struct TakenTogether {
  std::size_t admitted = 0;                     // the first so many; the others were refused
  Taken last;                                   // what the last that was admitted is told
  StaticVector<std::int64_t, kMaxLines> debts;  // of a token bucket, in ticks, after it; else 0
  Taken refusal;                                // what those that were refused are told

  // What the take at this place is told, from 0.
  Taken Of(std::size_t place, const MergeableTake& take) const;
};

// kSetup if the reply is not one of the scripts'.
Result<TakenTogether> DecodeTakes(const Result<redis::Reply>& answer, const MergeableTake& take,
                                  std::size_t takes);

}  // namespace brim

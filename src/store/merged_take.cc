#include "store/merged_take.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/limits.h"
#include "base/rounding.h"
#include "redis/command.h"
#include "store/redis_codec.h"

namespace brim {
namespace {

constexpr std::size_t kNumberBytes = 6;    // in a member of take_logs.lua, big-endian
constexpr std::size_t kNumberDigits = 15;  // as take.lua takes it: 2^48
constexpr std::size_t kTakesDigits = 3;
static_assert(limits::kMaxMergedTakes < 1000 && limits::kMaxMergedMembers < 1000);

// Right-aligned, with leading zeros: so that another number fits in its place.
void PutDigits(std::uint64_t number, char* to, std::size_t digits) {
  for (std::size_t i = digits; i-- > 0; number /= 10) to[i] = static_cast<char>('0' + number % 10);
}

void PutBytes(std::uint64_t number, char* to, std::size_t bytes) {
  for (std::size_t i = bytes; i-- > 0; number >>= 8) to[i] = static_cast<char>(number);
}

bool IsLog(const Line& line) {
  return line.limit.algorithm() == Algorithm::kSlidingWindow && !line.limit.weighted();
}

// What the scripts count in.
bool IsWhole(std::int64_t number) { return number >= 0 && number <= kMaxExact; }

LineStatus LogStatus(const Limit& limit, Units used, Micros reset_after) {
  LineStatus status;
  status.fit = Fit::kFits;
  status.used = used;
  status.remaining = std::max<Units>(0, limit.units() - used);
  status.reset_after = reset_after;
  return status;
}

// Reads the reply of take_logs.lua front to back.
class LogsReader {
 public:
  LogsReader(const redis::Reply& reply, std::span<const MergeableTake::Part> parts)
      : reply_(reply), parts_(parts) {}

  bool Admitted(Taken& taken) {
    if (left() < parts_.size()) return false;
    taken.admitted = true;
    for (const auto& part : parts_) {
      taken.lines.push_back(LogStatus(part.limit, Next(), part.limit.window()));
    }
    return true;
  }

  bool Refused(Taken& taken) {
    const std::int64_t line = left() < 2 ? 0 : Next();
    if (line < 1 || line > static_cast<std::int64_t>(parts_.size())) return false;
    const Micros retry_after = NextMillis();
    if (left() != 2 * static_cast<std::size_t>(line)) return false;
    taken.refused_line = static_cast<std::int32_t>(line) - 1;
    for (std::int64_t i = 0; i < line; ++i) {
      const Units used = Next();
      taken.lines.push_back(LogStatus(parts_[i].limit, used, NextMillis()));
    }
    const bool never = parts_[line - 1].limit.units() == 0;
    taken.lines.back().fit = never ? Fit::kNever : Fit::kOver;
    taken.lines.back().retry_after = never ? kNever : retry_after;
    taken.lines.resize(parts_.size());  // the rest was not looked at
    return true;
  }

  bool AtEnd() const { return left() == 0 && all_whole_; }

 private:
  std::size_t left() const { return reply_.size() - next_; }
  std::int64_t Next() {
    const std::int64_t number = reply_[next_++].integer();
    all_whole_ = all_whole_ && IsWhole(number);
    return all_whole_ ? number : 0;
  }
  Micros NextMillis() { return std::chrono::milliseconds(Next()); }

  const redis::Reply& reply_;
  const std::span<const MergeableTake::Part> parts_;
  std::size_t next_ = 1;  // 0 says how many were admitted
  bool all_whole_ = true;
};

bool ReadLogs(const redis::Reply& reply, const MergeableTake& take, std::size_t takes,
              TakenTogether& together) {
  LogsReader reader(reply, take.parts());
  if (together.admitted > 0 && !reader.Admitted(together.last)) return false;
  if (together.admitted < takes && !reader.Refused(together.refusal)) return false;
  return reader.AtEnd();
}

// Of take.lua: the replies of both kinds of takes behind each other.
bool ReadGeneral(const redis::Reply& reply, const MergeableTake& take, std::size_t takes,
                 TakenTogether& together) {
  if (reply.size() != 3) return false;
  const ExpectedReply expected{.lines = take.parts().size(), .debts = true};
  if (together.admitted > 0) {
    const redis::Reply last = reply[1];
    auto taken = DecodeTaken(last, expected);
    if (!taken || !taken->admitted || last.size() != 1 + 6 * expected.lines) return false;
    together.last = std::move(*taken);
    for (std::size_t i = 0; i < expected.lines; ++i) {
      const LineStatus& line = together.last.lines[i];
      const std::int64_t debt = last[6 + 6 * i].integer();
      if (!IsWhole(line.used) || !IsWhole(line.remaining) || !IsWhole(debt)) return false;
      together.debts.push_back(debt);
    }
  }
  if (together.admitted == takes) return true;
  auto taken = DecodeTaken(reply[2], expected);
  if (!taken || taken->admitted) return false;
  together.refusal = std::move(*taken);
  return true;
}

}  // namespace

bool IsMergeable(const Request& request) {
  return request.op == Op::kTake && !request.wants_receipt &&
         std::ranges::all_of(request.lines, [](const Line& line) {
           return line.limit.mode() == Mode::kEnforce && line.limit.count() == Count::kAdmitted &&
                  line.cost > 0;
         });
}

MergeableTake::MergeableTake(std::span<const Line> lines, const Scripts& scripts,
                             std::string_view caller)
    : of_logs_alone_(std::ranges::all_of(
          lines, [](const Line& line) { return IsLog(line) && line.cost == 1; })),
      members_(MembersOf(lines)),
      most_takes_(members_ > 1 ? std::max<Units>(1, limits::kMaxMergedMembers / members_)
                               : limits::kMaxMergedTakes) {
  parts_.reserve(lines.size());
  for (const Line& line : lines) parts_.push_back({line.limit, line.cost});
  if (of_logs_alone_) {
    EncodeLogs(lines, scripts.take_logs_sha1, caller);
  } else {
    Encode(lines, scripts.take_sha1, caller);
  }
}

// The member is packed as sliding_window.lua does it. Those of merged takes are longer: they need
// no numbers of their own.
void MergeableTake::EncodeLogs(std::span<const Line> lines, std::string_view sha1,
                               std::string_view caller) {
  std::string member(caller);
  member.append(kNumberBytes, '\0');
  redis::Command command(5 + 3 * lines.size(), BytesOf(lines));
  command.Arg("EVALSHA").Arg(sha1).Arg(static_cast<std::int64_t>(lines.size()));
  for (const Line& line : lines) command.Arg(line.key.view());
  command.Arg(member);
  number_at_ = command.EndOfLastArg() - kNumberBytes;
  command.Arg(std::string(kTakesDigits, '0'));
  takes_at_ = command.EndOfLastArg() - kTakesDigits;
  for (const Line& line : lines) command.Arg(line.limit.units()).Arg(WholeMs(line.limit.window()));
  command_ = command.Take();
}

void MergeableTake::Encode(std::span<const Line> lines, std::string_view sha1,
                           std::string_view caller) {
  redis::Command command(6 + lines.size() + ArgsOf(lines), BytesOf(lines));
  command.Arg("EVALSHA").Arg(sha1).Arg(static_cast<std::int64_t>(lines.size()));
  for (const Line& line : lines) command.Arg(line.key.view());
  command.Arg(caller).Arg(std::string(kNumberDigits, '0'));
  number_at_ = command.EndOfLastArg() - kNumberDigits;
  command.Arg("m" + std::string(kTakesDigits, '0'));
  takes_at_ = command.EndOfLastArg() - kTakesDigits;
  for (const Line& line : lines) AddLine(command, line);
  command_ = command.Take();
}

Units MergeableTake::numbers_of(std::size_t takes) const {
  return of_logs_alone_ ? 1 : members_ * static_cast<Units>(takes);
}

const std::string& MergeableTake::CommandFor(std::size_t takes, std::uint64_t number) {
  BRIM_ASSERT(takes >= 1 && takes <= most_takes_);
  if (of_logs_alone_) {
    PutBytes(number, command_.data() + number_at_, kNumberBytes);
  } else {
    PutDigits(number, command_.data() + number_at_, kNumberDigits);
  }
  PutDigits(takes, command_.data() + takes_at_, kTakesDigits);
  return command_;
}

Taken WithoutReceipt(const Taken& taken) {
  return {taken.admitted, taken.refused_line, taken.lines, {}};
}

Taken TakenTogether::Of(std::size_t place, const MergeableTake& take) const {
  if (place >= admitted) return WithoutReceipt(refusal);
  const auto later = static_cast<Units>(admitted - 1 - place);  // takes that came after it
  Taken taken = WithoutReceipt(last);
  for (std::size_t i = 0; i < taken.lines.size(); ++i) {
    const auto& [limit, cost] = take.parts()[i];
    LineStatus& line = taken.lines[i];
    line.used -= later * cost;
    line.remaining += later * cost;
    if (limit.algorithm() != Algorithm::kTokenBucket) continue;
    const std::int64_t debt = debts[i] - later * cost * limit.interval();
    line.reset_after = Micros(DivideUp(std::max<std::int64_t>(0, debt), limit.ticks_per_us()));
  }
  return taken;
}

Result<TakenTogether> DecodeTakes(const Result<redis::Reply>& answer, const MergeableTake& take,
                                  std::size_t takes) {
  if (!answer) return answer.error();
  const redis::Reply& reply = *answer;
  const std::int64_t admitted = reply.size() == 0 ? -1 : reply[0].integer();
  if (admitted < 0 || admitted > static_cast<std::int64_t>(takes)) return UnexpectedReply();
  TakenTogether together;
  together.admitted = static_cast<std::size_t>(admitted);
  const bool read = take.of_logs_alone() ? ReadLogs(reply, take, takes, together)
                                         : ReadGeneral(reply, take, takes, together);
  if (!read) return UnexpectedReply();
  return together;
}

}  // namespace brim

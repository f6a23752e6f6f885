#include "store/redis_codec.h"

#include <algorithm>

#include "base/rounding.h"
#include "redis/command.h"

namespace brim {
namespace {

constexpr std::size_t kValuesPerLine = 5;  // in the reply, after the refused line; a stamp more

std::string_view AlgorithmOf(const Limit& limit) {
  return limit.weighted() ? "weighted_window" : AlgorithmName(limit.algorithm());
}

char Letter(Op op) {
  switch (op) {
    case Op::kTake:
      return 't';
    case Op::kPeek:
      return 'p';
    case Op::kCharge:
      return 'c';
    case Op::kRefund:
      return 'r';
  }
  return '?';
}

// As look.lua reads it.
void AddLine(redis::Command& command, const Line& line) {
  const Limit& limit = line.limit;
  const char flags[] = {limit.mode() == Mode::kShadow ? 's' : 'e',
                        limit.count() == Count::kAll ? 'a' : '-',
                        limit.anchor() == Anchor::kAligned ? 'l' : '-'};
  command.Arg(AlgorithmOf(limit))
      .Arg(limit.capacity())
      .Arg(WholeMs(limit.window()))
      .Arg(line.cost)
      .Arg(std::string_view(flags, sizeof(flags)));
  if (limit.algorithm() == Algorithm::kTokenBucket) {
    command.Arg(limit.interval()).Arg(limit.ticks_per_us());
  }
}

void AddStamp(redis::Command& command, std::int64_t stamp) {
  if (stamp == Receipt::kNotCharged) {
    command.Arg("-");
  } else {
    command.Arg(stamp);
  }
}

std::size_t ArgsOf(std::span<const Line> lines) {
  std::size_t args = 5 * lines.size();
  for (const Line& line : lines) {
    if (line.limit.algorithm() == Algorithm::kTokenBucket) args += 2;
  }
  return args;
}

Error UnexpectedReply() {
  return {
      ErrorCode::kSetup,
      "the server's reply to a check is not the one of brim's script; is it Redis 7.0 or newer, "
      "or Valkey?",
      ""};
}

LineStatus DecodeLine(const redis::Reply& reply, std::size_t at) {
  LineStatus status;
  status.fit = static_cast<Fit>(reply[at].integer());
  status.used = reply[at + 1].integer();
  status.remaining = reply[at + 2].integer();
  status.retry_after = status.fit == Fit::kNever ? kNever : Micros(reply[at + 3].integer());
  status.reset_after = Micros(reply[at + 4].integer());
  return status;
}

Micros MillisOf(const redis::Reply& reply) { return Micros(reply.integer() * 1000); }

LineStatus LogStatus(const Limit& limit, Units used, Micros reset_after) {
  LineStatus status;
  status.fit = Fit::kFits;
  status.used = used;
  status.remaining = std::max<Units>(0, limit.units() - used);
  status.reset_after = reset_after;
  return status;
}

}  // namespace

Units MembersOf(std::span<const Line> lines) {
  Units members = 0;
  for (const Line& line : lines) {
    if (line.limit.algorithm() != Algorithm::kSlidingWindow || line.limit.weighted()) continue;
    members = std::max(members, std::min(line.cost, Limit::kMaxUnits));
  }
  return members;
}

bool IsOfLogsAlone(const Request& request) {
  return request.op == Op::kTake && !request.wants_receipt &&
         std::ranges::all_of(request.lines, [](const Line& line) {
           return line.limit.algorithm() == Algorithm::kSlidingWindow && !line.limit.weighted() &&
                  line.limit.mode() == Mode::kEnforce && line.cost == 1;
         });
}

std::string EncodeCall(const Request& request, std::string_view sha1, const MemberNames& names) {
  const std::span<const Line> lines = request.lines;
  const bool given = request.op == Op::kRefund && request.receipt != nullptr;
  const bool wanted = request.op != Op::kRefund && request.wants_receipt;
  const char operation[] = {Letter(request.op), given || wanted ? 'r' : '-'};
  const std::size_t args = 6 + lines.size() + ArgsOf(lines) + (given ? lines.size() : 0);
  redis::Command command(args, 128 + lines.size() * (kMaxKeyBytes / 2));
  command.Arg("EVALSHA").Arg(sha1).Arg(static_cast<std::int64_t>(lines.size()));
  for (const Line& line : lines) command.Arg(line.key.view());
  command.Arg(names.caller)
      .Arg(static_cast<std::int64_t>(names.number))
      .Arg(std::string_view(operation, sizeof(operation)));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    AddLine(command, lines[i]);
    if (given) AddStamp(command, request.receipt->stamps[i]);
  }
  return command.Take();
}

// The member is packed as sliding_window.lua does it.
std::string EncodeLogs(std::span<const Line> lines, std::string_view sha1,
                       const MemberNames& names) {
  std::string member(names.caller);
  for (int shift = 40; shift >= 0; shift -= 8) member += static_cast<char>(names.number >> shift);
  redis::Command command(4 + 3 * lines.size(), 128 + lines.size() * (kMaxKeyBytes / 2));
  command.Arg("EVALSHA").Arg(sha1).Arg(static_cast<std::int64_t>(lines.size()));
  for (const Line& line : lines) command.Arg(line.key.view());
  command.Arg(member);
  for (const Line& line : lines) command.Arg(line.limit.units()).Arg(WholeMs(line.limit.window()));
  return command.Take();
}

Result<Taken> DecodeTaken(const Result<redis::Reply>& answer, const ExpectedReply& expected) {
  if (!answer) return answer.error();
  const redis::Reply& reply = *answer;
  const std::size_t stride = kValuesPerLine + (expected.receipt ? 1 : 0);
  const std::size_t looked_at = reply.size() / stride;
  if (reply.size() != 1 + looked_at * stride || looked_at > expected.lines) {
    return UnexpectedReply();
  }
  const std::int64_t refused = reply[0].integer();
  if (refused < 0 || refused > static_cast<std::int64_t>(looked_at)) return UnexpectedReply();
  Taken taken;
  taken.admitted = refused == 0;
  taken.refused_line = static_cast<std::int32_t>(refused) - 1;
  for (std::size_t at = 1; at < reply.size(); at += stride) {
    const std::int64_t fit = reply[at].integer();
    if (fit < 0 || fit > static_cast<std::int64_t>(Fit::kNever)) return UnexpectedReply();
    taken.lines.push_back(DecodeLine(reply, at));
    if (!expected.receipt || !taken.admitted) continue;
    const std::int64_t stamp = reply[at + kValuesPerLine].integer();
    taken.receipt.stamps.push_back(stamp < 0 ? Receipt::kNotCharged : stamp);
    taken.receipt.number = expected.number;
  }
  taken.lines.resize(expected.lines);  // the rest was not looked at
  return taken;
}

Result<Taken> DecodeLogs(const Result<redis::Reply>& answer, std::span<const Limit> limits) {
  if (!answer) return answer.error();
  const redis::Reply& reply = *answer;
  const std::int64_t refused = reply.size() == 0 ? -1 : reply[0].integer();
  const std::size_t looked_at = refused == 0 ? limits.size() : static_cast<std::size_t>(refused);
  if (refused < 0 || looked_at > limits.size() ||
      reply.size() != (refused == 0 ? 1 + looked_at : 2 + 2 * looked_at)) {
    return UnexpectedReply();
  }
  Taken taken;
  taken.admitted = refused == 0;
  taken.refused_line = static_cast<std::int32_t>(refused) - 1;
  for (std::size_t i = 0; i < looked_at; ++i) {
    taken.lines.push_back(
        taken.admitted
            ? LogStatus(limits[i], reply[1 + i].integer(), limits[i].window())
            : LogStatus(limits[i], reply[2 + 2 * i].integer(), MillisOf(reply[3 + 2 * i])));
  }
  if (!taken.admitted) {
    LineStatus& status = taken.lines.back();
    const bool never = limits[looked_at - 1].units() == 0;
    status.fit = never ? Fit::kNever : Fit::kOver;
    status.retry_after = never ? kNever : MillisOf(reply[1]);
  }
  taken.lines.resize(limits.size());  // the rest was not looked at
  return taken;
}

}  // namespace brim

#include "store/redis_codec.h"

#include <algorithm>

#include "base/rounding.h"
#include "redis/command.h"

namespace brim {
namespace {

constexpr std::size_t kValuesPerLine = 5;  // in the reply, after the refused line; a sixth at need

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

void AddStamp(redis::Command& command, std::int64_t stamp) {
  if (stamp == Receipt::kNotCharged) {
    command.Arg("-");
  } else {
    command.Arg(stamp);
  }
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

}  // namespace

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

std::size_t ArgsOf(std::span<const Line> lines) {
  std::size_t args = 5 * lines.size();
  for (const Line& line : lines) {
    if (line.limit.algorithm() == Algorithm::kTokenBucket) args += 2;
  }
  return args;
}

std::size_t BytesOf(std::span<const Line> lines) { return 128 + lines.size() * (kMaxKeyBytes / 2); }

Error UnexpectedReply() {
  return {
      ErrorCode::kSetup,
      "the server's reply to a check is not the one of brim's script; is it Redis 7.0 or newer, "
      "or Valkey?",
      ""};
}

Units MembersOf(std::span<const Line> lines) {
  Units members = 0;
  for (const Line& line : lines) {
    if (line.limit.algorithm() != Algorithm::kSlidingWindow || line.limit.weighted()) continue;
    members = std::max(members, std::min(line.cost, Limit::kMaxUnits));
  }
  return members;
}

std::string EncodeCall(const Request& request, std::string_view sha1, const MemberNames& names) {
  const std::span<const Line> lines = request.lines;
  const bool given = request.op == Op::kRefund && request.receipt != nullptr;
  const bool wanted = request.op != Op::kRefund && request.wants_receipt;
  const char operation[] = {Letter(request.op), given || wanted ? 'r' : '-'};
  redis::Command command(6 + lines.size() + ArgsOf(lines) + (given ? lines.size() : 0),
                         BytesOf(lines));
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

Result<Taken> DecodeTaken(const Result<redis::Reply>& answer, const ExpectedReply& expected) {
  if (!answer) return answer.error();
  const redis::Reply& reply = *answer;
  const std::size_t stride = kValuesPerLine + (expected.receipt || expected.debts ? 1 : 0);
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

}  // namespace brim

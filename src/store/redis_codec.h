// The wire format between the Redis store and its scripts: lua/begin.lua, lua/look.lua and
// lua/take_logs.lua describe it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <brim/result.h>
#include <brim/store.h>
#include "redis/resp.h"

namespace brim {

// What names the members that one call makes: `caller` is the store's own, 5 bytes, and `number`
// counts up, 48 bits.
struct MemberNames {
  std::string_view caller;
  std::uint64_t number;
};

// How many numbers the members of a call take: lines share them, as their keys are distinct.
Units MembersOf(std::span<const Line> lines);

// The shape that take_logs.lua is for.
bool IsOfLogsAlone(const Request& request);

// An EVALSHA of take.lua, peek.lua or refund.lua.
std::string EncodeCall(const Request& request, std::string_view sha1, const MemberNames& names);

// An EVALSHA of take_logs.lua. REQUIRES: IsOfLogsAlone.
std::string EncodeLogs(std::span<const Line> lines, std::string_view sha1,
                       const MemberNames& names);

// What the reply to EncodeCall must look like.
struct ExpectedReply {
  std::size_t lines = 0;
  bool receipt = false;
  std::uint64_t number = 0;  // that the call's members began with
};

// kSetup if the reply is not one of the script's.
Result<Taken> DecodeTaken(const Result<redis::Reply>& answer, const ExpectedReply& expected);
Result<Taken> DecodeLogs(const Result<redis::Reply>& answer, std::span<const Limit> limits);

}  // namespace brim

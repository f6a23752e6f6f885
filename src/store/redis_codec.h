// The wire format between the Redis store and its scripts: lua/begin.lua and lua/look.lua describe
// it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <brim/result.h>
#include <brim/store.h>
#include "redis/command.h"
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

// An EVALSHA of take.lua, peek.lua or refund.lua for one request.
std::string EncodeCall(const Request& request, std::string_view sha1, const MemberNames& names);

// What the reply to EncodeCall must look like.
struct ExpectedReply {
  std::size_t lines = 0;
  bool receipt = false;
  bool debts = false;        // of merged takes: look.lua says where
  std::uint64_t number = 0;  // that the call's members began with
};

// kSetup if the reply is not one of the script's.
Result<Taken> DecodeTaken(const Result<redis::Reply>& answer, const ExpectedReply& expected);

// For merged_take.h: a line as look.lua reads it, how many arguments that takes for all lines, and
// a guess of a command's size.
void AddLine(redis::Command& command, const Line& line);
std::size_t ArgsOf(std::span<const Line> lines);
std::size_t BytesOf(std::span<const Line> lines);
Error UnexpectedReply();

}  // namespace brim

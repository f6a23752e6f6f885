// The plain recipe on Redis, as brim's peer: one EVALSHA for each window, ZREMRANGEBYSCORE, ZCARD,
// ZADD, EXPIRE, the client's clock, a UUID for a member. The client is kept as cheap as can be
// (blocking sockets, replies counted and not decoded), so that the server is what is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace brim::bench {

// Both windows of a check leave together; `depth` checks are under way on one connection. Returns
// how many were answered within the time. Ends the program at an error.
std::uint64_t RunPlainPipelined(int port, std::size_t keys, std::size_t depth, double seconds);

// On each of so many connections: one window, its answer, the other window, its answer.
std::uint64_t RunPlainUnpipelined(int port, std::size_t keys, std::size_t connections,
                                  double seconds);

// "user_000000000012345"
std::string SubjectOf(std::size_t number);

// Ends the program and says why.
[[noreturn]] void Fail(const std::string& what);

}  // namespace brim::bench

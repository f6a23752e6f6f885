// What the nodes of a cluster send to each other's clients: MOVED and ASK.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <brim/clock.h>
#include <brim/function.h>
#include <brim/result.h>
#include "redis/endpoint.h"
#include "redis/resp.h"
#include "redis/script.h"

namespace brim::redis {

using ReplyDone = MoveOnlyFunction<void(Result<Reply>)>;

// "MOVED 3999 10.0.0.1:6381" or "ASK ...": where a command belongs.
struct Direction {
  bool ask = false;  // for this command alone, with ASKING before it; else for good
  std::uint16_t slot = 0;
  Endpoint to;  // an empty host: the one of the node that answered
};

// nullopt: it is none.
std::optional<Direction> ParseDirection(std::string_view error_text);

// A command that surely did not run where it was sent, with all that sending it elsewhere takes.
struct Redirected {
  Direction direction;
  std::string command;
  const Script* script = nullptr;  // of an EVALSHA
  Instant deadline;
  ReplyDone done;
  int hops = 0;  // how many nodes sent it away, this one included
};

// Called where a Done would be: it may ask any client, and must not destroy one.
using OnRedirect = std::function<void(Redirected)>;

}  // namespace brim::redis

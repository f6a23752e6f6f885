// Where a primary is, as the sentinels that watch over it say. Inside src/redis alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include <brim/result.h>
#include "redis/client.h"
#include "redis/connection.h"

namespace brim::redis {

// "NAME old-host old-port new-host new-port", what +switch-master tells: the new one. nullopt: it
// is about another primary, or no such text.
std::optional<Endpoint> ParseSwitch(std::string_view text, std::string_view master_name);

// Loop-bound; held by shared_ptr.
class Sentinels : public std::enable_shared_from_this<Sentinels> {
 public:
  // `moved` is called when a sentinel tells of a failover, and when a new one begins to listen to
  // another of them; perhaps with what is known already.
  using Moved = std::function<void(const Endpoint&)>;
  Sentinels(boost::asio::io_context& io, SentinelOptions options, Moved moved);

  // Listens for failovers, to one sentinel at a time, until Stop.
  void Start();
  void Stop();

  // Asks one after the other, beginning with the one that answered last. kUnavailable: none
  // answered; kSetup: they know no such primary, or refuse to say.
  Awaitable<Result<Endpoint>> Find();

 private:
  class Talk;
  Awaitable<void> Listen(std::shared_ptr<Sentinels> self);
  Awaitable<void> ListenTo(const Endpoint& sentinel);  // until it is lost
  Awaitable<Result<Endpoint>> Ask(Talk& talk);

  boost::asio::io_context& io_;
  const SentinelOptions options_;
  const Moved moved_;
  std::size_t first_ = 0;  // to ask
  std::weak_ptr<Connection> listening_;
  Timer pause_;
  bool stopped_ = false;
};

}  // namespace brim::redis

// A listening socket of the kernel, made from a ListenAddress.
#pragma once

#include <brim/result.h>
#include "net/listen_address.h"

namespace brim::net {

struct ListenSocket {
  int fd = -1;            // non-blocking; the caller closes it
  int family = 0;         // AF_INET, AF_INET6 or AF_UNIX
  ListenAddress address;  // as bound: with the port that was taken
};

enum class PortUse {
  kTake,  // the port must be free
  kJoin,  // shared with sockets of this process that listen there already (SO_REUSEPORT)
};

// Binds and listens. A unix socket's file that nobody listens on is replaced. Blocks while a host's
// name is looked up. An Error is kInvalid with field `listen`.
Result<ListenSocket> OpenListenSocket(const ListenAddress& address, PortUse use);

}  // namespace brim::net

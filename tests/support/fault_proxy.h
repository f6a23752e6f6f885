// A proxy between a client and a server on this machine that does to their bytes what networks do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace brim::testing {

// What happens from now on, on the connections that are there and on new ones. A plain value.
struct Fault {
  std::chrono::milliseconds delay{0};      // before each piece of a reply
  bool drip = false;                       // replies come byte by byte, a millisecond apart
  bool lose_replies = false;               // requests arrive, replies do not
  bool black_hole = false;                 // nothing passes, connections are accepted
  std::optional<std::size_t> cut_after{};  // so many bytes of replies pass, then a reset
  bool half_close = false;                 // the client sees an end, the server does not
};

// Has a thread of its own. Thread-safe.
class FaultProxy {
 public:
  explicit FaultProxy(std::uint16_t server_port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::uint16_t port() const;
  void Set(const Fault& fault);  // {}: all is well
  void Reset();                  // every connection is reset; new ones work
  int accepted() const;          // connections so far

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace brim::testing

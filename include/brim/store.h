// Where counters live. This is the interface between the limiter, which knows subjects, tiers and
// failure policies, and the stores, which know keys and limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include <brim/decision.h>
#include <brim/function.h>
#include <brim/limit.h>
#include <brim/result.h>
#include <brim/static_vector.h>

namespace brim {

inline constexpr std::size_t kMaxKeyBytes = 256;

// The name a store counts under. Holds its bytes itself: building one allocates nothing.
class Key {
 public:
  Key() {}  // not `= default`: with that, `{}` would zero all of it first
  Key(const Key& other) { Append(other.view()); }
  Key& operator=(const Key& other) {
    if (this != &other) {
      size_ = 0;
      Append(other.view());
    }
    return *this;
  }
  // REQUIRES: the key stays within kMaxKeyBytes.
  void Append(std::string_view part) {
    if (part.size() > kMaxKeyBytes - size_) __builtin_trap();
    std::memcpy(bytes_ + size_, part.data(), part.size());
    size_ = static_cast<std::uint16_t>(size_ + part.size());
  }
  std::string_view view() const { return {bytes_, size_}; }
  bool operator==(const Key& other) const { return view() == other.view(); }

 private:
  std::uint16_t size_ = 0;
  char bytes_[kMaxKeyBytes];  // not initialised: only the first size_ bytes count
};

// One key to look at and, if the whole check fits, to charge.
struct Line {
  Line(const Key& key, const Limit& limit, Units cost) : key(key), limit(limit), cost(cost) {}
  Key key;
  Limit limit;
  Units cost;
};

// One atomic step: all lines are charged, or none. Shortest window first; keys are distinct; no
// line is kOff. At most kMaxLines. Copying copies the keys.
class CheckLines {
 public:
  CheckLines() {}  // not `= default`: with that, `{}` would zero its five kilobytes first
  CheckLines(const CheckLines& other) { *this = other; }
  CheckLines& operator=(const CheckLines& other) {
    if (this == &other) return *this;
    size_ = 0;
    for (const Line& line : other) Add(line.key, line.limit, line.cost);
    return *this;
  }
  Line& Add(const Key& key, const Limit& limit, Units cost) {
    if (size_ == kMaxLines) __builtin_trap();
    return *new (At(size_++)) Line(key, limit, cost);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Line* begin() const { return At(0); }
  const Line* end() const { return At(size_); }
  const Line* data() const { return At(0); }
  const Line& operator[](std::size_t i) const { return *At(i); }

 private:
  Line* At(std::size_t i) { return reinterpret_cast<Line*>(bytes_) + i; }
  const Line* At(std::size_t i) const { return reinterpret_cast<const Line*>(bytes_) + i; }
  std::size_t size_ = 0;
  alignas(Line) std::byte bytes_[kMaxLines * sizeof(Line)];  // only the first size_ are Lines
};

enum class Op : std::uint8_t {
  kTake,    // charges every line if all enforced ones fit, and none otherwise
  kPeek,    // looks at every line and writes nothing: would the line's cost fit now?
  kCharge,  // charges every line, past its limit too
  kRefund,  // gives back: what the receipt says, else the oldest units, at most what was used
};

// What one take or charge left in each of its lines, so that a refund finds exactly that. It is
// used up by the refund: it can be moved, never copied. The fields are the store's own.
struct Receipt {
  static constexpr std::int64_t kNotCharged = INT64_MIN;

  Receipt() {}
  Receipt(Receipt&& other) noexcept : number(other.number), stamps(other.stamps) {
    other.stamps.clear();
  }
  Receipt& operator=(Receipt&& other) noexcept {
    number = other.number;
    stamps = other.stamps;
    if (this != &other) other.stamps.clear();
    return *this;
  }
  bool empty() const { return stamps.empty(); }

  std::uint64_t number = 0;
  StaticVector<std::int64_t, kMaxLines> stamps;  // one for each line, or none
};

// How one line stands after the operation.
struct LineStatus {
  Fit fit = Fit::kNotLookedAt;
  Units used = 0;         // units that count now, this charge included
  Units remaining = 0;    // never negative
  Micros retry_after{0};  // 0 if it fits; kNever
  Micros reset_after{0};  // until the key is full again
};

// The commonest check in its smallest form: a take of one line, which is enforced and costs 1 or
// more, without a receipt.
struct SingleTake {
  std::string_view key;
  const Limit* limit;
  Units cost;
  LineStatus status = {};  // the answer; admitted if it fits
};

struct Taken {
  bool admitted = false;
  std::int32_t refused_line = -1;  // the enforced line that did not fit, or -1
  StaticVector<LineStatus, kMaxLines> lines;
  Receipt receipt = {};  // if it was wanted and something was charged
};

struct Request {
  Op op = Op::kTake;
  std::span<const Line> lines;  // a CheckLines converts to it
  bool wants_receipt = false;
  // Of a kRefund: null, or one made by the same lines. Of what charges: null; between stores, the
  // number that the receipt of this call shall have.
  const Receipt* receipt = nullptr;
};

// Where counters live. One Run is one atomic step: nobody sees half of it. Time is the store's own.
// A failure is an Error, never an answer: only the Limiter knows fail modes and the kill switch.
// Resources: neither copied nor moved. Thread-safe.
class Store {
 public:
  using Done = MoveOnlyFunction<void(Result<Taken>)>;
  using BatchDone = std::function<void(std::size_t, Result<Taken>)>;
  using ResetDone = MoveOnlyFunction<void(Result<std::int64_t>)>;

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;  // first completes every waiting call with kUnavailable or kUnknown

  // An embedded store answers at once: it fills `taken` and returns true. Others return false and
  // do nothing: call Run.
  virtual bool TryNow(const Request& /*request*/, Taken& /*taken*/) { return false; }
  // The same for takes of one line, one after the other: each is atomic by itself. Many at once
  // cost less, as memory is prefetched.
  virtual bool TakeNow(std::span<SingleTake> /*takes*/) { return false; }

  // Calls `done` exactly once, within `timeout` (and a scheduling delay); maybe before Run returns,
  // maybe on a thread of the store: it must not block. The lines must live until Run returns.
  // kUnknown: the charge may or may not have been made.
  virtual void Run(const Request& request, Micros timeout, Done done) = 0;

  // Many at once, in order, but not as one atomic step: memory is prefetched, Redis gets one write.
  // Calls `done` for each request exactly once, with its index; otherwise as Run. By itself: one
  // Run after the other.
  virtual void RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done);

  // Removes these keys and nothing else; tells how many there were. Otherwise as Run.
  virtual void Reset(std::span<const Key> keys, Micros timeout, ResetDone done) = 0;

  // Whether all keys of a check must share a hash tag (Redis Cluster).
  virtual bool needs_hash_tag() const { return false; }
};

// Opens the store that a URL names. It connects in the background: a server that is absent now
// is not an error, it is found when it comes. Thread-safe.
//   memory://                                      in this process
//   redis://[user:password@]host[:port][/db]       Redis 7.0 or newer, or Valkey
//   rediss://...                                   the same over TLS
//   unix:///path/to/socket[?db=N]                  the same over a unix socket
//   redis+sentinel://host,host/master_name[/db]    the primary that sentinels tell of
//   redis+cluster://host,host                      a Redis Cluster, or Valkey's
// docs/redis.md has their parameters.
// kInvalid says which part of the URL is wrong.
Result<std::unique_ptr<Store>> OpenStore(std::string_view url);

}  // namespace brim

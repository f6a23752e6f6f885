// What a check must answer, written to be obvious and not to be fast: every entry of every log is
// kept and counted one by one, buckets are rational numbers. The oracle test holds the stores
// against it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <brim/store.h>

namespace brim::testing {

// One key under one limit. Times are microseconds of wall time.
class KeyModel {
 public:
  virtual ~KeyModel() = default;
  // How one more `cost` would stand, with nothing changed.
  virtual LineStatus Look(const Limit& limit, Units cost, std::int64_t now_us) = 0;
  // Charges; `fits` is false for a limited call that counts. Tells what a receipt would remember.
  virtual std::int64_t Charge(const Limit& limit, Units cost, std::int64_t now_us, bool fits) = 0;
  // Without stamp: the oldest units.
  virtual void Refund(const Limit& limit, Units cost, std::int64_t now_us,
                      const std::int64_t* stamp) = 0;
  // What a refused call still does.
  virtual void Heal(const Limit& /*limit*/, std::int64_t /*now_us*/) {}
};

// Keys by their place in the check: limits may change, but not their order and algorithms.
class CheckModel {
 public:
  explicit CheckModel(std::span<const Limit> limits);
  // `receipt`: filled by a take or charge, used by a refund; may be null.
  Taken Run(Op op, std::span<const Limit> limits, Units cost, std::int64_t now_us,
            std::vector<std::int64_t>* receipt);

 private:
  std::vector<std::unique_ptr<KeyModel>> keys_;
};

}  // namespace brim::testing

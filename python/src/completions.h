// Answers on their way from a store's thread to an event loop.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <nanobind/nanobind.h>

#include <brim/decision.h>
#include <brim/store.h>

namespace brim::python {

// The store's thread adds answers and wakes the loop through one eventfd, once for all that it has
// not yet taken. Holds no Python object: futures are found by number, so that whoever lets go of
// the last reference needs no GIL. Thread-safe.
class Completions {
 public:
  struct Answer {
    std::uint64_t number;
    Decision decision;
    Receipt receipt;
  };

  Completions();  // throws std::system_error without a free descriptor
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();

  void Add(std::uint64_t number, const Decision& decision, Receipt receipt);
  std::vector<Answer> Take();

  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
  std::mutex mu_;
  std::vector<Answer> answers_;  // GUARDED_BY(mu_)
};

// The Python object Completions. Callbacks share what it points to and not itself: nanobind's own
// shared_ptr to a Python object would need the GIL where it ends, on the store's thread.
struct CompletionsRef {
  std::shared_ptr<Completions> shared = std::make_shared<Completions>();
};

void BindCompletions(nanobind::module_& module);

}  // namespace brim::python

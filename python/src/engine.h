// A limiter and its store, as a Python object owns them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include <brim/limiter.h>
#include <brim/testing.h>

namespace brim::python {

struct EngineOptions {
  std::string store;
  std::shared_ptr<ManualClock> clock;  // null: the machine's; memory:// alone takes one
  LimiterOptions limiter;
  bool disabled = false;
};

// Lets go of the GIL while it lives. A daemon thread that comes back when the interpreter has ended
// is parked for ever: what CPython before 3.14 does with it, unwinding its stack, ends in
// terminate().
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil();

 private:
  PyThreadState* const thread_;
};

// All of it is called with the GIL held, which guards its fields; only calls that wait for a server
// let go of it. The thread of a Redis store never asks for the GIL, so nothing waits in a circle.
//
// In a forked child the thread of a Redis store is not there: the first call opens a store anew.
// What was inherited is left alone for ever, as its destructor would wait for that thread.
class Engine {
 public:
  explicit Engine(EngineOptions options);  // raises InvalidArgument
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // ask(limiter); without the GIL if the store is a server. Raises Closed.
  template <typename Ask>
  auto Call(Ask ask) {
    Prepare();
    if (embedded_) return ask(parts_->limiter);
    std::shared_ptr<Parts> parts = parts_;  // Close() may come meanwhile
    const WithoutGil released;
    const std::shared_ptr<Parts> held =
        std::move(parts);  // if it is the last, gone before the GIL is back
    return ask(held->limiter);
  }

  // ask(limiter) with the GIL, for what does not wait. Raises Closed.
  template <typename Ask>
  auto CallAtOnce(Ask ask) {
    Prepare();
    return ask(parts_->limiter);
  }

  void Close();  // again and again, too
  bool closed() const { return parts_ == nullptr; }
  bool embedded() const { return embedded_; }
  bool disabled() const;
  void set_disabled(bool disabled) { options_.disabled = disabled; }

 private:
  struct Parts {
    Parts(std::unique_ptr<Store> opened, const LimiterOptions& options)
        : store(std::move(opened)), limiter(*store, options) {}
    const std::unique_ptr<Store> store;
    Limiter limiter;
  };
  std::shared_ptr<Parts> Open() const;
  void Prepare();
  void LeaveToParent();

  EngineOptions options_;
  std::shared_ptr<Parts> parts_;
  bool embedded_;
  int born_after_forks_;
};

void BindEngine(nanobind::module_& module);

}  // namespace brim::python

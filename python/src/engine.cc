#include "engine.h"

#include <cstdlib>
#include <set>
#include <string_view>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <pthread.h>
#include <unistd.h>

#include <brim/memory_store.h>
#include <brim/store.h>
#include "errors.h"
#include "limits.h"

namespace nb = nanobind;

namespace brim::python {
namespace {

int forks = 0;  // that lie between this process and the one that loaded the module

// Python's os.environ passes each change on to the C library. Read with the GIL held, as os.environ
// writes with it.
bool DisabledByEnvironment() {
  const char* value = std::getenv("RATE_LIMIT_DISABLED");
  if (value == nullptr) return false;
  const std::string_view text = value;
  return text == "true" || text == "TRUE" || text == "True" || text == "1";
}

// Those to close when the interpreter ends: a store's thread must not run while the process takes
// down what it uses. Guarded by the GIL; never destroyed, as engines may outlive static objects.
std::set<Engine*>& OpenEngines() {
  static auto& engines = *new std::set<Engine*>;
  return engines;
}

void CloseAll() {
  // One may end by itself while another is closed: the set is looked at afresh each time.
  while (!OpenEngines().empty()) (*OpenEngines().begin())->Close();
}

std::unique_ptr<Store> OpenWithClock(const EngineOptions& options) {
  if (options.store != "memory://") {
    Raise({ErrorCode::kInvalid, "a clock needs the store memory://: a server has its own time",
           "clock"});
  }
  return std::make_unique<MemoryStore>(MemoryStoreOptions{.clock = options.clock.get()});
}

}  // namespace

WithoutGil::~WithoutGil() {
  try {
    PyEval_RestoreThread(thread_);
  } catch (...) {  // the unwinding of pthread_exit; it must not be left
    for (;;) pause();
  }
}

Engine::Engine(EngineOptions options) : options_(std::move(options)), born_after_forks_(forks) {
  if (const auto valid = Limiter::ValidateOptions(options_.limiter); !valid) Raise(valid.error());
  options_.limiter.kill_switch = false;  // looked at before each call instead
  parts_ = Open();
  embedded_ = dynamic_cast<MemoryStore*>(parts_->store.get()) != nullptr;
  OpenEngines().insert(this);
}

Engine::~Engine() { Close(); }

std::shared_ptr<Engine::Parts> Engine::Open() const {
  std::unique_ptr<Store> store =
      options_.clock != nullptr ? OpenWithClock(options_) : ValueOrRaise(OpenStore(options_.store));
  return std::make_shared<Parts>(std::move(store), options_.limiter);
}

void Engine::Prepare() {
  if (parts_ == nullptr) RaiseClosed();
  if (born_after_forks_ != forks && !embedded_) {
    LeaveToParent();
    parts_ = Open();
  }
  parts_->limiter.SetKillSwitch(disabled());
}

void Engine::LeaveToParent() {
  new std::shared_ptr<Parts>(std::move(parts_));  // held for ever
  born_after_forks_ = forks;
}

void Engine::Close() {
  if (parts_ == nullptr) return;
  OpenEngines().erase(this);
  if (born_after_forks_ != forks && !embedded_) return LeaveToParent();
  std::shared_ptr<Parts> parts = std::move(parts_);
  const WithoutGil released;  // the end of a store waits for its thread
  parts.reset();
}

bool Engine::disabled() const { return options_.disabled || DisabledByEnvironment(); }

void BindEngine(nb::module_& module) {
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&CloseAll));

  nb::class_<ManualClock>(module, "ManualClock")
      .def(nb::init<>())
      .def(
          "advance",
          [](ManualClock& clock, double seconds) {
            if (seconds < 0) {
              Raise({ErrorCode::kInvalid, "a clock never goes back; give 0 or more", "seconds"});
            }
            clock.Advance(FromSeconds(seconds, "seconds"));
          },
          nb::arg("seconds"));

  nb::class_<Engine>(module, "Engine")
      .def("close", &Engine::Close)
      .def_prop_ro("closed", &Engine::closed)
      .def_prop_ro("embedded", &Engine::embedded)
      .def_prop_rw("disabled", &Engine::disabled, &Engine::set_disabled)
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__", [](Engine& engine, nb::handle, nb::handle, nb::handle) { engine.Close(); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());
}

}  // namespace brim::python

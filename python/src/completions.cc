#include "completions.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace nb = nanobind;

namespace brim::python {
namespace {

nb::list TakeAll(CompletionsRef& completions) {
  nb::list taken;
  for (Completions::Answer& answer : completions.shared->Take()) {
    taken.append(nb::make_tuple(answer.number, answer.decision, std::move(answer.receipt)));
  }
  return taken;
}

}  // namespace

Completions::Completions() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Completions::~Completions() { close(descriptor_); }

void Completions::Add(std::uint64_t number, const Decision& decision, Receipt receipt) {
  bool first;
  {
    const std::lock_guard lock(mu_);
    first = answers_.empty();
    answers_.push_back({number, decision, std::move(receipt)});
  }
  if (first) eventfd_write(descriptor_, 1);
}

// The eventfd is reset first: an answer that comes between the two steps is taken now, or wakes.
std::vector<Completions::Answer> Completions::Take() {
  eventfd_t wakes;
  eventfd_read(descriptor_, &wakes);
  const std::lock_guard lock(mu_);
  return std::exchange(answers_, {});
}

void BindCompletions(nb::module_& module) {
  nb::class_<CompletionsRef>(module, "Completions")
      .def(nb::init<>())
      .def("fileno", [](const CompletionsRef& ref) { return ref.shared->descriptor(); })
      .def("take", &TakeAll);
}

}  // namespace brim::python

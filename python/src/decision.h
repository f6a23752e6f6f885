// Decisions and receipts as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace brim::python {

void BindDecision(nanobind::module_& module);

}  // namespace brim::python

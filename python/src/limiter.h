// The classes RateLimiter and Limiter of the Python package.
#pragma once

#include <nanobind/nanobind.h>

namespace brim::python {

void BindLimiters(nanobind::module_& module);

}  // namespace brim::python

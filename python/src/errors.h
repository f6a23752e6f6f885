// brim's errors as Python exceptions (python/brim/errors.py). All of these throw, and need the GIL.
#pragma once

#include <brim/result.h>

namespace brim::python {

// kInvalid becomes InvalidArgument, anything else StoreError.
[[noreturn]] void Raise(const Error& error);
[[noreturn]] void RaiseClosed();

template <typename T>
T ValueOrRaise(Result<T> result) {
  if (!result) Raise(result.error());
  return std::move(result).value();
}

}  // namespace brim::python

#include "errors.h"

#include <string_view>

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace brim::python {
namespace {

const char* NameOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kUnknown:
      return "unknown";
    case ErrorCode::kOutOfMemory:
      return "oom";
    case ErrorCode::kSetup:
      return "setup";
  }
  return "unknown";
}

template <typename... Args>
[[noreturn]] void RaiseClass(const char* name, const Args&... args) {
  const nb::object raised = nb::module_::import_("brim.errors").attr(name)(args...);
  PyErr_SetObject(raised.type().ptr(), raised.ptr());
  throw nb::python_error();
}

nb::str Text(const std::string& text) { return nb::str(text.data(), text.size()); }

}  // namespace

void Raise(const Error& error) {
  if (error.code == ErrorCode::kInvalid) {
    RaiseClass("InvalidArgument", Text(error.message), Text(error.field));
  }
  RaiseClass("StoreError", Text(error.message), NameOf(error.code));
}

void RaiseClosed() { RaiseClass("Closed", "this limiter is closed; make a new one"); }

}  // namespace brim::python

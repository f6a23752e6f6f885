// Result<T>: a value, or the reason why there is none. brim throws nothing.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace brim {

enum class ErrorCode {
  kInvalid,      // the caller's input; `field` names the part, the message the remedy
  kUnavailable,  // the store gave no answer, and surely charged nothing
  kUnknown,      // no answer, and the charge may or may not have been made: never repeat it blindly
  kOutOfMemory,  // the store is full and refuses writes; nothing was charged
  kSetup,        // the store is reached but unusable: wrong password, missing rights, wrong server
};

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;  // for people: what is wrong, and what to do
  std::string field;    // of kInvalid: which part of the input; empty if there is just one
};

// A value or an Error. Asking for the one that is not there is a bug in the caller (asserted).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& { return Get<0>(state_); }
  T& value() & { return Get<0>(state_); }
  // By value, so that `for (... : Parse().value())` does not outlive what it walks over.
  T value() && { return std::move(Get<0>(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return Get<1>(state_); }

 private:
  template <std::size_t I, typename State>
  static auto& Get(State& state) {
    auto* part = std::get_if<I>(&state);
    if (part == nullptr) __builtin_trap();
    return *part;
  }
  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}
  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const {
    if (ok_) __builtin_trap();
    return error_;
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace brim

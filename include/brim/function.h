// A callable that is moved, never copied: the type of brim's completion callbacks.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace brim {

template <typename Signature>
class MoveOnlyFunction;

// Small callables (up to six pointers) are stored inside; larger ones take one allocation.
// Calling an empty one is a bug. Thread-compatible.
template <typename R, typename... Args>
class MoveOnlyFunction<R(Args...)> {
 public:
  MoveOnlyFunction() = default;
  MoveOnlyFunction(std::nullptr_t) {}
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, MoveOnlyFunction> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  MoveOnlyFunction(F&& callable) {
    using Stored = std::decay_t<F>;
    if constexpr (FitsInside<Stored>()) {
      new (storage_) Stored(std::forward<F>(callable));
      actions_ = &kInside<Stored>;
    } else {
      new (storage_) Stored*(new Stored(std::forward<F>(callable)));
      actions_ = &kOutside<Stored>;
    }
  }
  MoveOnlyFunction(MoveOnlyFunction&& other) noexcept { TakeFrom(other); }
  MoveOnlyFunction& operator=(MoveOnlyFunction&& other) noexcept {
    if (this != &other) {
      Clear();
      TakeFrom(other);
    }
    return *this;
  }
  ~MoveOnlyFunction() { Clear(); }

  explicit operator bool() const { return actions_ != nullptr; }
  R operator()(Args... args) {
    if (actions_ == nullptr) __builtin_trap();
    return actions_->call(storage_, std::forward<Args>(args)...);
  }

 private:
  static constexpr std::size_t kBytesInside = 6 * sizeof(void*);
  struct Actions {
    R (*call)(void*, Args&&...);
    void (*move)(void* from, void* to);  // leaves nothing alive in `from`
    void (*destroy)(void*);
  };
  template <typename F>
  static constexpr bool FitsInside() {
    return sizeof(F) <= kBytesInside && alignof(F) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<F>;
  }
  template <typename F>
  static constexpr Actions kInside = {[](void* at, Args&&... args) -> R {
                                        return (*static_cast<F*>(at))(std::forward<Args>(args)...);
                                      },
                                      [](void* from, void* to) {
                                        new (to) F(std::move(*static_cast<F*>(from)));
                                        static_cast<F*>(from)->~F();
                                      },
                                      [](void* at) { static_cast<F*>(at)->~F(); }};
  template <typename F>
  static constexpr Actions kOutside = {
      [](void* at, Args&&... args) -> R {
        return (**static_cast<F**>(at))(std::forward<Args>(args)...);
      },
      [](void* from, void* to) { new (to) F*(*static_cast<F**>(from)); },
      [](void* at) { delete *static_cast<F**>(at); }};

  void TakeFrom(MoveOnlyFunction& other) {
    actions_ = std::exchange(other.actions_, nullptr);
    if (actions_ != nullptr) actions_->move(other.storage_, storage_);
  }
  void Clear() {
    if (const Actions* actions = std::exchange(actions_, nullptr)) actions->destroy(storage_);
  }

  const Actions* actions_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[kBytesInside];
};

}  // namespace brim

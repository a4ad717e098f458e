#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace bench::cuda::emulator {

/// A stack of its own that a thread can switch to. It stays with the thread that made it.
class Fiber {
 public:
  /// The stack that the thread runs on already.
  Fiber();
  /// `body` begins at the first switch to the fiber; the one it returns is switched to at its end,
  /// and the fiber must not be switched to again. It must not throw.
  explicit Fiber(std::function<Fiber&()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  /// The body must have ended, or never begun.
  ~Fiber();

  /// From this fiber, which is running; returns when somebody switches back to it.
  void switch_to(Fiber& next);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench::cuda::emulator

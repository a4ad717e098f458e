#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace bench::cuda::emulator {

/// A separate stack that a thread can switch to. It stays with the thread that made it.
class Fiber {
 public:
  /// The stack that the thread already runs on.
  Fiber();
  /// `body` begins at the first switch to the fiber and must not throw. At its end the fiber that
  /// it returns is switched to. An ended fiber must not be switched to again.
  explicit Fiber(std::function<Fiber&()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  /// The body must have ended, or never have begun.
  ~Fiber();

  /// Switches from this fiber, which is running; returns when another fiber switches back to it.
  void switch_to(Fiber& next);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench::cuda::emulator

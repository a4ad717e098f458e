#pragma once

namespace bench {

/// A stream of the late device as other libraries see it, which enqueue work of their own.
struct LateQueue {
  void* self;
  /// `step(argument)` is called again and again, by the stream's thread, until it returns other
  /// than 0 or the stream ends; then, in either case, `release(argument)` once.
  void (*push)(void* self, int (*step)(void* argument), void (*release)(void* argument),
               void* argument);
};

}  // namespace bench

#pragma once

#include <functional>

namespace bench {

/// A stream of the late device as other libraries see it, which enqueue work of their own.
struct LateQueue {
  void* self;
  /// `attempt` is called again and again, by the stream's thread, until it returns true or the
  /// stream ends.
  void (*push)(void* self, std::function<bool()> attempt);
};

}  // namespace bench

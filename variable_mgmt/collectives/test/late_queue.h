#pragma once

#include <functional>

namespace bench {

/// The interface of a late device's stream for other libraries, which enqueue their work on it.
struct LateQueue {
  void* self;
  /// The stream's thread calls `attempt` repeatedly until it returns true or the stream ends.
  void (*push)(void* self, std::function<bool()> attempt);
};

}  // namespace bench

#pragma once

#include <functional>
#include <stdexcept>

namespace bench {

/// A signal ended the work.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// True once a signal has come. Any thread may call it.
using IsInterrupted = std::function<bool()>;

/// Throws Interrupted once a signal has come.
inline void stop_if(const IsInterrupted& interrupted) {
  if (interrupted && interrupted()) {
    throw Interrupted();
  }
}

}  // namespace bench

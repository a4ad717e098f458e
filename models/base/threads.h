#pragma once

#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "models/base/errors.h"

namespace bench {

/// What to tell where the system gives no further thread.
DeviceError no_thread(const std::system_error& error);

/// A new thread that runs `work`. Throws DeviceError where the system gives none.
template <class Work>
std::jthread start_thread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {
    throw no_thread(error);
  }
}

/// What `work` returns, worked out by a new thread meanwhile. Throws DeviceError where the system
/// gives none.
template <class Work>
auto start_async(Work work) {
  try {
    return std::async(std::launch::async, std::move(work));
  } catch (const std::system_error& error) {
    throw no_thread(error);
  }
}

}  // namespace bench

#pragma once

#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "models/base/errors.h"

namespace bench {

/// The number of processors that this process may use, at least 1.
int usable_processors();

/// The error if the system cannot start another thread.
DeviceError no_thread(const std::system_error& error);

/// A new thread that runs `work`. Throws DeviceError if the system cannot start one.
template <class Work>
std::jthread start_thread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {
    throw no_thread(error);
  }
}

/// The future result of `work`, which runs on a new thread. Throws DeviceError if the system cannot
/// start one.
template <class Work>
auto start_async(Work work) {
  try {
    return std::async(std::launch::async, std::move(work));
  } catch (const std::system_error& error) {
    throw no_thread(error);
  }
}

}  // namespace bench

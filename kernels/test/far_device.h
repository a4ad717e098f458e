#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// When a far device runs enqueued work.
struct FarSchedule {
  enum class Kind : std::uint8_t {
    /// Immediately, before the call returns.
    eager,
    /// Only when a caller waits.
    deferred,
    /// Some now and some later, alternating among all streams, by the seed.
    random,
  };
  Kind kind = Kind::deferred;
  std::uint64_t seed = 0;
  /// How long each copy from the host takes in addition.
  std::chrono::nanoseconds upload_delay{};
  /// The memory size of the device.
  std::size_t memory_bytes = std::size_t{1} << 40;
};

constexpr std::uint64_t kFarSeeds = 20;
/// Eager, deferred, and `seeds` random schedules.
std::vector<FarSchedule> far_schedules(std::uint64_t seeds = kFarSeeds);

/// A device that wraps another one, which is the host. It runs that one's kernels late, on another
/// thread, on memory that the host may not access (access ends the program). Throws InternalError
/// if a kernel gets memory that is not the device's. Results have the bits of the inner backend,
/// whose work must be allowed on any thread.
std::unique_ptr<Backend> make_far_backend(std::unique_ptr<Backend> inner,
                                          const FarSchedule& schedule);

/// The number of waits for such a device.
std::int64_t waits_for(const Backend& far);

/// Bytes that were copied from the host to such a device.
std::size_t uploaded_to(const Backend& far);

}  // namespace bench

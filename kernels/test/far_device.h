#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// When a far device does what was enqueued.
struct FarSchedule {
  enum class Kind : std::uint8_t {
    /// At once, before the call returns.
    eager,
    /// Only when somebody waits.
    deferred,
    /// Some now and some later, of all streams in turn, as the seed has it.
    random,
  };
  Kind kind = Kind::deferred;
  std::uint64_t seed = 0;
  /// What the device has of memory.
  std::size_t memory_bytes = std::size_t{1} << 40;
};

constexpr std::uint64_t kFarSeeds = 20;
/// Eager, deferred, and so many random ones.
std::vector<FarSchedule> far_schedules(std::uint64_t seeds = kFarSeeds);

/// A device around another one, which is the host: the other one's kernels on memory that the host
/// may not touch (it ends the program), launched late and from another thread. Throws InternalError
/// when a kernel is given memory that is not the device's. What it computes has the bits of the
/// inner backend, whose work may be done on any thread.
std::unique_ptr<Backend> make_far_backend(std::unique_ptr<Backend> inner,
                                          const FarSchedule& schedule);

/// How often anybody waited for such a device.
std::int64_t waits_for(const Backend& far);

/// Bytes that were copied to such a device from the host.
std::size_t uploaded_to(const Backend& far);

}  // namespace bench

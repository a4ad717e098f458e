#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/runtime/lowering.h"
#include "kernels/stream.h"

namespace bench {

/// A plan's steps from the end of the part before up to `end`, recorded.
struct RecordedPart {
  std::size_t end = 0;
  std::unique_ptr<Recording> kernels;
};

/// All steps in parts, each but the last up to where so many gradients are final as one of
/// `gradients` says. `launch` enqueues steps from `begin` up to `end`. Throws DeviceError where
/// they cannot be recorded.
std::vector<RecordedPart> record_parts(
    Stream& stream, const LoweredGraph& plan, std::span<const std::size_t> gradients,
    const std::function<void(std::size_t begin, std::size_t end)>& launch);

}  // namespace bench

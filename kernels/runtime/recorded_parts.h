#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/runtime/lowering.h"
#include "kernels/stream.h"

namespace bench {

/// A plan's recorded steps, from the previous part's end up to `end`.
struct RecordedPart {
  std::size_t end = 0;
  std::unique_ptr<Recording> kernels;
};

/// Records all steps in parts. Each part but the last ends when the number of final gradients
/// reaches an entry of `gradients`. `launch` enqueues steps from `begin` up to `end`. Throws
/// DeviceError if they cannot be recorded.
std::vector<RecordedPart> record_parts(
    Stream& stream, const LoweredGraph& plan, std::span<const std::size_t> gradients,
    const std::function<void(std::size_t begin, std::size_t end)>& launch);

}  // namespace bench

#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/plan/device.h"
#include "bench/plan/settings.h"

namespace bench {

/// Sets settings.execution.micro_batch for inference on a CPU, unless a flag did. Throws UsageError
/// if it is set and the run cannot use it.
void choose_micro_batch(RunSettings& settings, const Device& device);

/// The fastest number of images that an inference network computes at a time, by estimate: a
/// divisor of `batch`. The activations of a few images may fit in the caches, but the filters are
/// read once for each such part. `graph` is the network for one image.
std::int64_t fastest_micro_batch(const Graph& graph, std::int64_t batch, std::size_t cache_bytes);

}  // namespace bench

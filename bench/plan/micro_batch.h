#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/plan/settings.h"

namespace bench {

/// The number of images of a batch that a tower's network computes at a time. For inference on a
/// CPU it is the flag's, the choices file's, or the fastest by estimate. Otherwise it is the batch.
std::int64_t micro_batch_for(const RunSettings& settings, Backend& backend, std::int64_t batch);

/// Sets settings.execution.micro_batch if it is not the whole batch, with a notice. Throws
/// UsageError for a flag that the run cannot use.
void choose_micro_batch(RunSettings& settings, Backend& backend);

/// The fastest number of images that an inference network computes at a time, by estimate: a
/// divisor of `batch`. The activations of a few images may fit in the caches, but the filters are
/// read once for each such part. `graph` is the network for one image.
std::int64_t fastest_micro_batch(const Graph& graph, std::int64_t batch, std::size_t cache_bytes);

}  // namespace bench

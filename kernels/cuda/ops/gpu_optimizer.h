#pragma once

#include <memory>
#include <vector>

#include "kernels/optimizer.h"

namespace bench::cuda {

/// An optimizer of the current device. Regions are f32 and begin at multiples of 16 bytes. Throws
/// InternalError for another type. Waits until its tables are in device memory.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          std::vector<OptimizerSegment> segments);

}  // namespace bench::cuda

#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench {

/// The oracle of every numerical test. It runs all ops on the calling thread, in double, with Eigen
/// and plain sums of products. Results are stored as f32 or f64, always row-major NCHW, whatever
/// the data format. It has no fused forms: the executor decomposes them. Every launch is done when
/// it returns.
std::unique_ptr<Backend> make_reference_backend();

}  // namespace bench

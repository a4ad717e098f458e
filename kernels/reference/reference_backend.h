#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench {

/// The oracle of every numerical test: all ops on the calling thread, computed in double with Eigen
/// and plain sums of products, stored as f32 or f64, always row-major NCHW whatever the data format
/// asks for. It runs no fused form: the executor gives it the parts. Every launch is done when it
/// returns.
std::unique_ptr<Backend> make_reference_backend();

}  // namespace bench

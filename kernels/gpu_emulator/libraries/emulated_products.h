#pragma once

#include <memory>

#include "kernels/cuda/backend/products.h"

namespace bench::cuda {

/// Replaces cuBLASLt on an emulated GPU. Sums are in double. They are rounded to f32 in a
/// workspace, which is required, then to the result's type. As in cuBLASLt, a bias needs results in
/// f32.
std::unique_ptr<Products> make_emulated_products();

}  // namespace bench::cuda

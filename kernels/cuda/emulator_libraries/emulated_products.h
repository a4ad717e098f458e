#pragma once

#include <memory>

#include "kernels/cuda/products.h"

namespace bench::cuda {

/// What stands for cuBLASLt where a GPU is emulated: sums in double, rounded to f32 in a workspace
/// that has to be there, then to the result's type. As there, a bias comes with results in f32
/// only.
std::unique_ptr<Products> make_emulated_products();

}  // namespace bench::cuda

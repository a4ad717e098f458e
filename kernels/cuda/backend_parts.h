#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/properties.h"

namespace bench::cuda {

/// What a backend of this folder is put together from.
struct BackendParts {
  DeviceProperties device;
  std::unique_ptr<Convolutions> convolutions;
  std::unique_ptr<Products> products;
  /// Of the GPU that it runs on; negative: it only plans, for one that is described.
  int index = -1;
};

std::unique_ptr<Backend> assemble_backend(BackendParts parts);

}  // namespace bench::cuda

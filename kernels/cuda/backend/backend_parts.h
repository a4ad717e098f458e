#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/cuda/backend/convolutions.h"
#include "kernels/cuda/backend/products.h"
#include "kernels/cuda/backend/rnn_layers.h"
#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

/// The parts that a backend of this folder is assembled from.
struct BackendParts {
  DeviceProperties device;
  std::unique_ptr<Convolutions> convolutions;
  std::unique_ptr<Products> products;
  std::unique_ptr<RnnLayers> rnn_layers;
  /// The GPU to run on; negative for a described GPU, on which the backend only plans.
  int index = -1;
};

std::unique_ptr<Backend> assemble_backend(BackendParts parts);

}  // namespace bench::cuda

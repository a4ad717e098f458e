#include "kernels/gpu_emulator/libraries/emulated_backend.h"

#include "kernels/cuda/backend/provider.h"
#include "kernels/gpu_emulator/libraries/emulated_convolutions.h"
#include "kernels/gpu_emulator/libraries/emulated_products.h"
#include "kernels/gpu_emulator/libraries/emulated_rnn_layers.h"

namespace bench::cuda {

std::unique_ptr<GpuProvider> make_emulated_provider() {
  return make_provider({.convolutions = [](const DeviceProperties& /*device*/,
                                           bool /*tf32*/) { return make_emulated_convolutions(); },
                        .products = [](const DeviceProperties& /*device*/,
                                       bool /*tf32*/) { return make_emulated_products(); },
                        .rnn_layers = [](const DeviceProperties& /*device*/,
                                         bool /*tf32*/) { return make_emulated_rnn_layers(); },
                        .versions = "no libraries: emulated"});
}

std::unique_ptr<Backend> make_emulated_backend() {
  return make_emulated_provider()->make_backend(0, {});
}

}  // namespace bench::cuda

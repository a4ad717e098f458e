#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/cuda/backend/backend_parts.h"
#include "kernels/gpu_provider.h"

namespace bench::cuda {

/// The libraries of a provider.
struct ProviderLibraries {
  std::function<std::unique_ptr<Convolutions>(const DeviceProperties&, bool tf32)> convolutions;
  std::function<std::unique_ptr<Products>(const DeviceProperties&, bool tf32)> products;
  std::function<std::unique_ptr<RnnLayers>(const DeviceProperties&, bool tf32)> rnn_layers;
  std::string versions;
  /// Throws UsageError if the libraries do not match the versions that bench was built for.
  std::function<void()> check_versions = [] {};
};

std::unique_ptr<GpuProvider> make_provider(ProviderLibraries libraries);

}  // namespace bench::cuda

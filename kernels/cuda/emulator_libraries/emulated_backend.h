#pragma once

#include <memory>

#include "kernels/gpu_provider.h"

namespace bench::cuda {

/// What an emulated GPU offers in place of the plug-in.
std::unique_ptr<GpuProvider> make_emulated_provider();

/// Its first GPU's backend.
std::unique_ptr<Backend> make_emulated_backend();

}  // namespace bench::cuda

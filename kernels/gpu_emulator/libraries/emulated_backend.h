#pragma once

#include <memory>

#include "kernels/gpu_provider.h"

namespace bench::cuda {

/// The emulated GPU's provider, in place of the plug-in.
std::unique_ptr<GpuProvider> make_emulated_provider();

/// The backend of its first GPU.
std::unique_ptr<Backend> make_emulated_backend();

}  // namespace bench::cuda

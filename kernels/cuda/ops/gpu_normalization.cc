#include "kernels/cuda/ops/gpu_normalization.h"

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/normalize.h"

namespace bench::cuda {

std::unique_ptr<Kernel> make_gpu_normalization(const Normalization& range, const Placed& images) {
  return make_gpu_kernel([range, view = view_of(images.type.shape, images.layout),
                          dtype = images.type.dtype](const Launch& launch) {
    normalize(launch.stream, {.range = range,
                              .pixels = launch.in(0),
                              .view = view,
                              .dtype = dtype,
                              .images = launch.out(0)});
  })();
}

}  // namespace bench::cuda

#include "kernels/cuda/ops/gpu_reorder.h"

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/reorder.h"

namespace bench::cuda {

std::unique_ptr<Kernel> make_gpu_reorder(const Placed& from, const Placed& to) {
  const Shape& shape = from.type.shape;
  const bool has_order = shape.rank() == 4;
  const View view = has_order ? view_of(shape, from.layout) : View{.channels = shape.elements()};
  const Order order = has_order ? view_of(shape, to.layout).order : view.order;
  return make_gpu_kernel(
      [view, order, source = from.type.dtype, target = to.type.dtype](const Launch& launch) {
        reorder(launch.stream, {.view = view,
                                .from = source,
                                .x = launch.in(0),
                                .order = order,
                                .to = target,
                                .y = launch.out(0)});
      })();
}

}  // namespace bench::cuda

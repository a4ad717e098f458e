#include "kernels/cuda/gpu/swap_axes.h"

#include "kernels/cuda/gpu/row_copy.h"

namespace bench::cuda {
namespace {

/// A block per row of y.
template <class T, int N>
__global__ void swap_rows_kernel(std::int64_t a, std::int64_t b, std::int64_t columns,
                                 const T* __restrict__ x, T* __restrict__ y) {
  const std::int64_t of_b = blockIdx.x / a;
  const std::int64_t of_a = blockIdx.x - of_b * a;
  copy_row<T, N>(x + (of_a * b + of_b) * columns, y + std::int64_t{blockIdx.x} * columns, columns);
}

}  // namespace

void swap_rows(cudaStream_t stream, const SwapRows& args) {
  // The bits are only copied.
  const DType dtype = args.dtype == DType::s32 ? DType::f32 : args.dtype;
  with_packs(dtype, args.columns, [&](auto tag, auto pack) {
    using T = typename decltype(tag)::type;
    launch(stream, row_shape("swap_rows", args.a * args.b, args.columns / pack),
           swap_rows_kernel<T, pack>, args.a, args.b, args.columns, static_cast<const T*>(args.x),
           static_cast<T*>(args.y));
  });
}

}  // namespace bench::cuda

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// A 3x3 convolution over tensors in blocks of 16 channels: x
/// [batch][in_blocks][height][width][16], y [batch][out_blocks][out_height][out_width][16].
struct FilterGradientShape {
  std::int64_t batch = 0;
  std::int64_t in_blocks = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t out_blocks = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t stride = 1;
  /// Zeros above and to the left of x; what lies behind it at the other sides follows.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
};

/// How the work is cut. One task sums the gradients of some blocks of filters over the whole batch,
/// chunk by chunk of pixels that stay in the first-level cache while every one of its filters has
/// them.
struct FilterGradientPlan {
  FilterGradientShape shape;
  /// f32 or bf16, of x and dy.
  DType dtype = DType::f32;
  /// Blocks of 16 inputs, and of 16 outputs, of a task at most.
  std::int64_t group = 1;
  std::int64_t out_tasks = 1;
  std::int64_t in_tasks = 1;
  /// Of a chunk. In bf16 two images are one, see filter_gradient_rows.h.
  std::int64_t chunk_images = 1;
  std::int64_t chunk_rows = 1;
  /// Bytes in bf16 of one block's chunk of x and of dy, whose pixels lie there side by side.
  std::size_t packed_x_bytes = 0;
  std::size_t packed_dy_bytes = 0;
  /// A multiple of 64, for a team of `threads`.
  std::size_t workspace_bytes = 0;
  int threads = 1;
};

/// Empty where filter_gradient does not know the shape or would leave threads without work: other
/// types, strides but 1 and 2, paddings above 1, outputs less than 2 wide, too few filters for the
/// threads.
std::optional<FilterGradientPlan> plan_filter_gradient(const FilterGradientShape& shape,
                                                       DType dtype, int threads);

/// dw[o][i][r][s] = sum over n, p, q of dy[n][o][p][q] * x[n][i][p * stride + r - pad_top][q *
/// stride
/// + s - pad_left], in f32, as [out_blocks][in_blocks][3][3][16 in][16 out]. Sums run over the
/// pixels in the order of memory. Needs a processor with AVX-512F, for bf16 with AVX512_BF16 too.
/// The workspace is aligned to 64 bytes.
void filter_gradient(ThreadTeam& team, const FilterGradientPlan& plan, const void* x,
                     const void* dy, float* dw, void* workspace);

}  // namespace bench::cpu

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
  /// Zeros above and to the left of x; those at its other sides follow.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
};

/// How the work is divided. A task sums the gradients of up to group x group blocks of filters over
/// the whole batch. It goes chunk by chunk of pixels, so that all its filters find a chunk in the
/// caches.
struct FilterGradientPlan {
  FilterGradientShape shape;
  /// The type of x and dy: f32 or bf16.
  DType dtype = DType::f32;
  int threads = 1;
  std::int64_t group = 1;
  std::int64_t in_tasks = 1;
  std::int64_t out_tasks = 1;
  /// The size of a chunk. In bf16 two images count as one, see filter_gradient_rows.h.
  std::int64_t chunk_images = 1;
  std::int64_t chunk_rows = 1;
  /// In bf16: bytes of one block's chunk of x and of dy, with the images interleaved.
  std::size_t packed_x_bytes = 0;
  std::size_t packed_dy_bytes = 0;
  /// A multiple of 64.
  std::size_t workspace_bytes = 0;
  /// At least 1: the busiest thread's multiply-adds, including half-empty pairs of images, relative
  /// to an equal share of the necessary ones.
  double excess = 1;
};

/// Empty if the kernel does not support the shape: other types, strides except 1 and 2, paddings
/// above 1 on any side, outputs less than 2 wide.
std::optional<FilterGradientPlan> plan_filter_gradient(const FilterGradientShape& shape,
                                                       DType dtype, int threads);

/// Computes dw[o][i][r][s] = the sum over n, p, q of
///   dy[n][o][p][q] * x[n][i][p * stride + r - pad_top][q * stride + s - pad_left]
/// in f32, as [out_blocks][in_blocks][3][3][16 in][16 out]. Each sum is accumulated pixel by pixel,
/// in the same order for every number of threads. Needs a processor with AVX-512F and BW. For bf16
/// it also needs AVX512_BF16, whose products flush subnormal numbers to zero. Throws InternalError
/// for a team that does not have the plan's size.
struct FilterGradient {
  FilterGradientPlan plan;
  const void* x = nullptr;
  const void* dy = nullptr;
  float* dw = nullptr;
  /// Aligned to 64 bytes.
  void* workspace = nullptr;
};
void filter_gradient(ThreadTeam& team, const FilterGradient& args);

}  // namespace bench::cpu

#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/winograd.h"

namespace bench::cpu {

/// How the work is divided: chunk by chunk of tiles, whose transforms stay in the caches.
struct WinogradGradientPlan {
  /// The shape of the convolution.
  WinogradShape shape;
  int threads = 1;
  std::int64_t tiles = 0;
  std::int64_t chunk = 0;  ///< Tiles of a chunk.
  /// A multiple of 64.
  std::size_t workspace_bytes = 0;
  /// The multiply-adds of the matrix products, including tiles that reach beyond y.
  std::int64_t multiply_adds = 0;
  /// The estimated time of everything else, in multiply-adds.
  std::int64_t overhead = 0;
};

WinogradGradientPlan plan_winograd_gradient(const WinogradShape& shape, int threads);

struct WinogradGradient {
  WinogradGradientPlan plan;
  const void* x = nullptr;
  const void* dy = nullptr;
  float* dw = nullptr;
  /// 64-byte aligned.
  void* workspace = nullptr;
};

/// Computes the gradient of the filters of a convolution (see winograd()):
///   dw[o][i][r][s] = the sum over n, p, q of
///     dy[n][o][p][q] * x[n][i][p + r - pad_top][q + s - pad_left]
/// in f32, also for x and dy in bf16, as [out_blocks][in_blocks][3][3][block in][block out]. It
/// is the transpose of F(4x4, 3x3) and also multiplies 36 times per tile. Gives the same bits for
/// every number of threads.
void winograd_gradient(ThreadTeam& team, const WinogradGradient& args);

}  // namespace bench::cpu

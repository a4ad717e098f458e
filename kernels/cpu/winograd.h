#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// A convolution with 3x3 filters and stride 1 over tensors in blocks of channels: x
/// [batch][in_blocks][height][width][block], y [batch][out_blocks][out_height][out_width][block].
struct WinogradShape {
  /// The type of x, y, the residual, and filters that are not transformed: f32, or bf16 in blocks
  /// of 16.
  DType dtype = DType::f32;
  /// 16, which needs AVX-512F, or 8, which needs AVX2 and FMA.
  std::int64_t block = 16;
  std::int64_t batch = 0;
  std::int64_t in_blocks = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t out_blocks = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  /// Rows of zeros above x and columns to its left; may be negative. The output's extents determine
  /// those at the other sides.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
};

/// The order of the filters' elements.
enum class WinogradFilters : std::uint8_t {
  /// [out_blocks][in_blocks][3][3][block in][block out].
  forward,
  /// [in_blocks][out_blocks][3][3][block in][block out], and rotated by half a turn: the filters of
  /// the convolution whose data gradient this is.
  backward_data,
  /// [36][out_blocks][block * in_blocks][block out]: written by transform_winograd_filters().
  transformed,
};

/// How the work is divided: a thread computes a part of the output channels of a group of tiles of
/// 4x4 outputs, then the next.
struct WinogradPlan {
  WinogradShape shape;
  WinogradFilters order = WinogradFilters::forward;
  int threads = 1;
  std::int64_t tiles = 0;
  std::int64_t group = 0;  ///< Tiles of a group.
  std::int64_t groups = 0;
  std::int64_t parts = 1;
  /// A multiple of 64.
  std::size_t workspace_bytes = 0;
  /// The multiply-adds of the matrix products, including tiles that reach beyond y.
  std::int64_t multiply_adds = 0;
  /// The estimated time of everything, in multiply-adds of all threads.
  std::int64_t cost = 0;
};

WinogradPlan plan_winograd(const WinogradShape& shape, WinogradFilters order, int threads);

/// The filters of a convolution.
struct WinogradFilterShape {
  /// The type of filters that are not transformed.
  DType dtype = DType::f32;
  std::int64_t block = 16;
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
};
/// Floats of transformed filters.
std::int64_t winograd_filter_floats(const WinogradFilterShape& shape);
/// Transforms the filters of a convolution. `filters` has the order `forward`.
void transform_winograd_filters(ThreadTeam& team, const WinogradFilterShape& shape,
                                const void* filters, float* transformed);

struct Winograd {
  WinogradPlan plan;
  const void* x = nullptr;
  /// In the plan's order. Transformed ones are f32.
  const void* filters = nullptr;
  /// One per output channel; may be null.
  const float* bias = nullptr;
  /// Has y's shape and may be y; may be null.
  const void* residual = nullptr;
  /// y is limited to at least `lower` and at most `upper`; NaN stays NaN.
  std::optional<float> lower = {};
  std::optional<float> upper = {};
  void* y = nullptr;
  /// 64-byte aligned.
  void* workspace = nullptr;
};

/// Computes y[n][o][p][q] = the sum over i, r, s of
///   x[n][i][p + r - pad_top][q + s - pad_left] * filters[o][i][r][s]
/// in f32 as F(4x4, 3x3): Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
/// It multiplies 36 times per tile instead of 144 times. Its rounding errors are 2 to 2.6 times
/// those of a plain sum. Outputs in bf16 are rounded once. Gives the same bits for every number of
/// threads.
void winograd(ThreadTeam& team, const Winograd& args);

}  // namespace bench::cpu

#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/conv2d.h"

namespace bench::cpu {

/// Filter gradient of a depthwise convolution: dw[c][r][s] = the sum over n, p, q of
///   dy[n][c][p][q] * x[n][c][p * stride + r - pad][q * stride + s - pad];
/// dw is [ceil(channels / block)][kernel height][kernel width][block], f32, with zeros after the
/// last channel. Sums of one image are in f32, sums over images in double. Waits. Throws
/// InternalError for nchw, a dilated window, other types and shapes without pixels.
struct DepthwiseGradient {
  /// The view of x, nhwc or blocked; dy has the same kind. In nhwc `block` is the block of dw.
  ChannelView view;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  Window window;
  /// The type of x and dy: f32, bf16 or f16.
  DType dtype = DType::f32;
  const void* x = nullptr;
  const void* dy = nullptr;
  float* dw = nullptr;
  /// Has depthwise_gradient_workspace_bytes, aligned to 64 bytes.
  void* workspace = nullptr;
};
std::size_t depthwise_gradient_workspace_bytes(const DepthwiseGradient& args, int threads);
void depthwise_gradient(ThreadTeam& team, const DepthwiseGradient& args);

}  // namespace bench::cpu

#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"
#include "models/ops/conv2d.h"

namespace bench::cpu {

/// Filter gradient of a depthwise convolution: dw[c][r][s] = the sum over n, p, q of
///   dy[n][c][p][q] * x[n][c][p * stride + r - pad][q * stride + s - pad]
/// as [ceil(channels / block)][kernel height][kernel width][block], f32; what is behind the last
/// channel is 0. Sums of one image in f32, over images in double. Waits. Throws InternalError for
/// nchw, a dilated window, other types and shapes without pixels.
struct DepthwiseGradient {
  /// Of x, nhwc or blocked; dy lies likewise. In nhwc `block` is that of dw.
  ChannelView view;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  Window window;
  /// f32, bf16 or f16, of x and dy.
  DType dtype = DType::f32;
  const void* x = nullptr;
  const void* dy = nullptr;
  float* dw = nullptr;
  /// depthwise_gradient_workspace_bytes, aligned to 64 bytes.
  void* workspace = nullptr;
};
std::size_t depthwise_gradient_workspace_bytes(const DepthwiseGradient& args, int threads);
void depthwise_gradient(ThreadTeam& team, const DepthwiseGradient& args);

}  // namespace bench::cpu

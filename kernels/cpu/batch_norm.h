#pragma once

#include <cstddef>

#include "kernels/arguments.h"
#include "kernels/cpu/channel_view.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// Scratch bytes for any per-channel kernel (batch norm, bias gradient, spatial mean) with this
/// view and team size. It must be 64-byte aligned; its contents need not survive.
std::size_t channel_workspace_bytes(const ChannelView& view, int threads);

/// Returns true if the kernels below support the activation: none, ReLU or ReLU6. They throw
/// InternalError for any other.
bool batch_norm_carries(ActivationKind activation);

/// gamma / sqrt(variance + epsilon) of a channel, with gamma 1 if it is null.
float inference_scale(const float* gamma, const float* variance, double epsilon,
                      std::int64_t channel);

using BatchNormForward = bench::BatchNormForward<ChannelView>;
using BatchNormInference = bench::BatchNormInference<ChannelView>;
using BatchNormBackward = bench::BatchNormBackward<ChannelView>;

/// Reads x twice (the second time backwards, or from cache if a channel group fits) and writes y
/// once. Statistics are as accurate as in double, however large the mean is relative to the
/// deviation. For a given team size the result is repeatable bit for bit. Waits.
void batch_norm_forward(ThreadTeam& team, const BatchNormForward& args);

/// Makes one pass. Waits.
void batch_norm_inference(ThreadTeam& team, const BatchNormInference& args);

/// Makes two passes. The second reads dresidual instead of dy and y if it exists, or dx if there
/// are two dy. In 16 bits that sum is rounded before it is read. Waits.
void batch_norm_backward(ThreadTeam& team, const BatchNormBackward& args);

}  // namespace bench::cpu

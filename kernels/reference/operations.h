#pragma once

#include "kernels/reference/tensor.h"
#include "models/ops/activation.h"

namespace bench::reference {

/// That of any op that the reference runs.
Operation operation_of(const Graph& graph, const Node& node);

// One maker per op. Each returns the computation of an unfused node of its op; the formulas are
// those of the ops' headers in models/ops.

// conv2d.cc
Operation conv2d(const Graph& graph, const Node& node);
Operation conv2d_backward_data(const Graph& graph, const Node& node);
Operation conv2d_backward_weights(const Graph& graph, const Node& node);

// pool.cc
Operation max_pool(const Graph& graph, const Node& node);
Operation max_pool_backward(const Graph& graph, const Node& node);
Operation avg_pool(const Graph& graph, const Node& node);
Operation avg_pool_backward(const Graph& graph, const Node& node);

// batch_norm.cc
Operation batch_norm(const Graph& graph, const Node& node);
Operation batch_norm_inference(const Graph& graph, const Node& node);
Operation batch_norm_backward(const Graph& graph, const Node& node);

// fully_connected.cc
Operation fully_connected(const Graph& graph, const Node& node);
Operation fully_connected_backward_data(const Graph& graph, const Node& node);
Operation fully_connected_backward_weights(const Graph& graph, const Node& node);

// channels.cc
Operation channel_pad(const Graph& graph, const Node& node);
Operation channel_scale(const Graph& graph, const Node& node);
Operation channel_scale_backward(const Graph& graph, const Node& node);
Operation channel_shuffle(const Graph& graph, const Node& node);
Operation channel_slice(const Graph& graph, const Node& node);
Operation concat(const Graph& graph, const Node& node);
Operation spatial_pad(const Graph& graph, const Node& node);

// drop_path.cc
/// Its own backward.
Operation drop_path(const Graph& graph, const Node& node);

// losses.cc
Operation softmax_cross_entropy(const Graph& graph, const Node& node);
Operation softmax_cross_entropy_backward(const Graph& graph, const Node& node);
Operation l2_loss(const Graph& graph, const Node& node);
Operation l2_loss_backward(const Graph& graph, const Node& node);
Operation top_k_accuracy(const Graph& graph, const Node& node);

// activation.cc
/// f(x), as the op `activation` computes it.
double activate(ActivationKind kind, double x);
Operation activation(const Graph& graph, const Node& node);
Operation activation_backward(const Graph& graph, const Node& node);

// lrn.cc
Operation lrn(const Graph& graph, const Node& node);
Operation lrn_backward(const Graph& graph, const Node& node);

// quantized.cc
Operation quantize(const Graph& graph, const Node& node);
Operation dequantize(const Graph& graph, const Node& node);
Operation quantized_spatial_mean(const Graph& graph, const Node& node);
Operation quantized_conv2d(const Graph& graph, const Node& node);
Operation quantized_fully_connected(const Graph& graph, const Node& node);
Operation quantized_add(const Graph& graph, const Node& node);

// elementwise.cc
Operation add(const Graph& graph, const Node& node);
Operation bias_add(const Graph& graph, const Node& node);
Operation bias_backward(const Graph& graph, const Node& node);
Operation moving_average(const Graph& graph, const Node& node);
/// Also the op's backward.
Operation dropout(const Graph& graph, const Node& node);
/// flatten, unflatten and cast: the same elements under another shape or in another type.
Operation reshape(const Graph& graph, const Node& node);
Operation spatial_mean(const Graph& graph, const Node& node);
Operation spatial_mean_backward(const Graph& graph, const Node& node);

}  // namespace bench::reference

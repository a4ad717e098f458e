#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/thread_team.h"
#include "kernels/onednn/layouts.h"

namespace bench::onednn {

/// What every candidate of this backend is made from.
struct Context {
  dnnl::engine engine;
  LayoutTable layouts;
  cpu::ThreadTeam& team;
  /// Channels per block of the blocked layout: the floats of one vector register.
  int block = 16;
};

/// Candidates of one node; empty when the op cannot run with any of the format's layouts.
using Candidates = std::vector<Candidate> (*)(Context&, const Graph&, const Node&, DataFormat);

std::vector<Candidate> conv2d(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> conv2d_backward_data(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> conv2d_backward_weights(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> max_pool(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> max_pool_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> avg_pool(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> avg_pool_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> fully_connected(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> fully_connected_backward_data(Context&, const Graph&, const Node&,
                                                     DataFormat);
std::vector<Candidate> fully_connected_backward_weights(Context&, const Graph&, const Node&,
                                                        DataFormat);
std::vector<Candidate> batch_norm(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> batch_norm_inference(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> batch_norm_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> activation(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> activation_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> add(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> bias_add(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> bias_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> cast(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> spatial_mean(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> spatial_mean_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> reshape(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> channel_pad(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> channel_scale(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> channel_scale_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> channel_shuffle(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> channel_slice(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> concat(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> drop_path(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> spatial_pad(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> dropout(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> softmax_cross_entropy(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> softmax_cross_entropy_backward(Context&, const Graph&, const Node&,
                                                      DataFormat);
std::vector<Candidate> l2_loss(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> l2_loss_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> lrn(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> lrn_backward(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> top_k_accuracy(Context&, const Graph&, const Node&, DataFormat);
std::vector<Candidate> moving_average(Context&, const Graph&, const Node&, DataFormat);

/// The layouts in which an activation may lie under a format: one for nchw and nhwc (rank 4), for
/// automatic also the channel-blocked one where the channels fill whole blocks. Lower ranks have
/// their canonical layout only.
std::vector<Layout> activation_layouts(const Context& context, const Shape& shape,
                                       DataFormat format);

/// See Backend.
Ceiling measure_ceiling(const Context& context, DType dtype);

/// Rough machine speeds behind the estimates that rank candidates. Only their ratios matter: one
/// core does some 5 multiply-adds in the time it moves one byte to or from memory.
double compute_seconds(const Context& context, std::int64_t multiply_adds,
                       const std::string& implementation, const Layout& activations);
double memory_seconds(const Context& context, std::int64_t bytes);

}  // namespace bench::onednn

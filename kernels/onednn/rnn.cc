#include "kernels/onednn/rnn.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/cast.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/onednn/primitive_kernel.h"
#include "kernels/onednn/rnn_primitives.h"
#include "models/ops/rnn.h"

namespace bench::onednn {
namespace {

using Desc = dnnl::memory::desc;
using From = Argument::From;
using PrimitiveDesc = dnnl::primitive_desc_base;

/// The layout of a tensor {D, G, H, I} that a primitive describes as {1, D, I, G, H}.
Layout weights_layout(Context& context, const Graph& graph, ValueId value, const Desc& weights) {
  const auto extents = weights.get_dims();
  return context.layouts.remember(graph.type(value),
                                  weights.permute_axes({0, 1, 4, 2, 3})
                                      .reshape({extents[1], extents[3], extents[4], extents[2]}));
}

Desc desc_of(const PrimitiveDesc& desc, int id) {
  return desc.query_md(dnnl::query::exec_arg_md, id);
}

/// Sums or copies the biases b_x and b_h (null: zeros) into oneDNN's, and adds the forget bias.
void join_biases(const RnnLayer& layer, const float* b_x, const float* b_h, float* joined) {
  const std::int64_t all = layer.gates * layer.units;
  const std::int64_t summed = layer.biases() > layer.gates ? all - layer.units : all;
  for (std::int64_t d = 0; d < layer.directions; ++d) {
    for (std::int64_t i = 0; i < all; ++i) {
      joined[i] = b_x[i] + (b_h != nullptr && i < summed ? b_h[i] : 0);
    }
    for (std::int64_t i = summed; i < all; ++i) {
      joined[i + layer.units] = b_h != nullptr ? b_h[i] : 0;
    }
    if (layer.attributes.forget_bias != 0) {
      std::for_each_n(joined + layer.units, layer.units, [&](float& bias) {
        bias += static_cast<float>(layer.attributes.forget_bias);
      });
    }
    b_x += all;
    b_h = b_h != nullptr ? b_h + all : nullptr;
    joined += layer.biases() * layer.units;
  }
}

/// The reverse for the gradient, which is the same for both biases where they are summed.
void split_biases(const RnnLayer& layer, const float* joined, float* db_x, float* db_h) {
  const std::int64_t all = layer.gates * layer.units;
  const std::int64_t summed = layer.biases() > layer.gates ? all - layer.units : all;
  for (std::int64_t d = 0; d < layer.directions; ++d) {
    std::copy_n(joined, all, db_x);
    if (db_h != nullptr) {
      std::copy_n(joined, summed, db_h);
      std::copy_n(joined + summed + layer.units, all - summed, db_h + summed);
      db_h += all;
    }
    db_x += all;
    joined += layer.biases() * layer.units;
  }
}

/// The parts of a kernel's workspace, in bytes from its beginning. The first is the primitive's.
struct RnnWorkspace {
  RnnWorkspace(const RnnLayer& layer, const PrimitiveDesc& desc, bool backward) {
    const auto floats = [](std::int64_t count) {
      return static_cast<std::size_t>(count) * sizeof(float);
    };
    add(desc.scratchpad_desc().get_size());
    bias = add(floats(layer.bias_elements()));
    zeros = add(floats(layer.state_elements()));
    if (backward) {
      bias_gradient = add(floats(layer.bias_elements()));
      dh = add(floats(layer.state_elements()));
      dc = add(floats(layer.state_elements()));
      const bool narrow = is_half(layer.dtype);
      dy = add(floats(narrow ? layer.y_elements() : 0));
      dx = add(floats(narrow ? layer.x_elements() : 0));
    }
  }

  std::size_t bias = 0;
  /// The initial states h and c.
  std::size_t zeros = 0;
  std::size_t bias_gradient = 0;
  /// The gradients of the initial states, which nothing reads.
  std::size_t dh = 0;
  std::size_t dc = 0;
  /// The activations' gradients in f32, for 16-bit types.
  std::size_t dy = 0;
  std::size_t dx = 0;
  std::size_t bytes = 0;

 private:
  std::size_t add(std::size_t part_bytes) {
    constexpr std::size_t kAlignment = 64;
    const std::size_t begin = bytes;
    bytes += (part_bytes + kAlignment - 1) / kAlignment * kAlignment;
    return begin;
  }
};

/// A primitive between the conversions of biases and gradients that it needs.
class RnnKernel : public Kernel {
 public:
  RnnKernel(const RnnLayer& layer, std::unique_ptr<Kernel> primitive, const RnnWorkspace& parts)
      : layer_(layer), primitive_(std::move(primitive)), parts_(parts) {}

 protected:
  /// A part of the workspace with that many floats.
  static TensorView part(void* workspace, std::size_t begin, std::int64_t elements) {
    return {.data = static_cast<std::byte*>(workspace) + begin,
            .bytes = static_cast<std::size_t>(elements) * sizeof(float)};
  }

  /// The biases as oneDNN reads them; b_x is input `first`.
  TensorView bias(std::span<const TensorView> inputs, std::size_t first, void* workspace) const {
    if (layer_.plain_bias()) {
      return inputs[first];
    }
    const TensorView joined = part(workspace, parts_.bias, layer_.bias_elements());
    join_biases(layer_, inputs[first].as<const float>(),
                layer_.attributes.hidden_bias ? inputs[first + 1].as<const float>() : nullptr,
                joined.as<float>());
    return joined;
  }

  /// The initial states. oneDNN takes them as zeros if they are missing. In one direction, 3.2 then
  /// computes a wrong gradient of the hidden weights: it pairs each step with the state after it.
  TensorView zeros(void* workspace) const {
    const TensorView state = part(workspace, parts_.zeros, layer_.state_elements());
    std::memset(state.data, 0, state.bytes);
    return state;
  }

  RnnLayer layer_;
  std::unique_ptr<Kernel> primitive_;
  RnnWorkspace parts_;
};

class RnnForward final : public RnnKernel {
 public:
  using RnnKernel::RnnKernel;
  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    const std::array views{inputs[0], inputs[1], inputs[2], bias(inputs, 3, workspace),
                           zeros(workspace)};
    primitive_->launch(stream, views, outputs, workspace);
  }
};

class RnnBackward final : public RnnKernel {
 public:
  RnnBackward(cpu::ThreadTeam& team, const RnnLayer& layer, std::unique_ptr<Kernel> primitive,
              const RnnWorkspace& parts)
      : RnnKernel(layer, std::move(primitive), parts), team_(team) {}

  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    const std::size_t y = layer_.attributes.hidden_bias ? 6 : 5;
    const bool narrow = is_half(layer_.dtype);
    TensorView dy = inputs[0];
    TensorView dx = outputs[0];
    if (narrow) {
      dy = part(workspace, parts_.dy, layer_.y_elements());
      dx = part(workspace, parts_.dx, layer_.x_elements());
      cpu::cast(team_, {.count = layer_.y_elements(),
                        .from = layer_.dtype,
                        .x = inputs[0].data,
                        .to = DType::f32,
                        .y = dy.data});
    }
    const TensorView dbias = part(workspace, parts_.bias_gradient, layer_.bias_elements());
    // oneDNN adds to these.
    for (const TensorView& gradient : {outputs[1], outputs[2], dbias}) {
      cpu::zero_bytes(team_, gradient.data, gradient.bytes);
    }
    const std::array views{inputs[1],        inputs[2], inputs[3],     bias(inputs, 4, workspace),
                           zeros(workspace), inputs[y], inputs[y + 1], dy};
    const std::array gradients{dx,
                               outputs[1],
                               outputs[2],
                               dbias,
                               part(workspace, parts_.dh, layer_.state_elements()),
                               part(workspace, parts_.dc, layer_.state_elements())};
    primitive_->launch(stream, views, gradients, workspace);
    split_biases(layer_, dbias.as<const float>(), outputs[3].as<float>(),
                 layer_.attributes.hidden_bias ? outputs[4].as<float>() : nullptr);
    if (narrow) {
      cpu::cast(team_, {.count = layer_.x_elements(),
                        .from = DType::f32,
                        .x = dx.data,
                        .to = layer_.dtype,
                        .y = outputs[0].data});
    }
  }

 private:
  cpu::ThreadTeam& team_;
};

/// oneDNN reports its GEMM with vectorized gates as "ref". Another name keeps the cost model from
/// treating it as slow.
std::string implementation_of(const PrimitiveDesc& desc) {
  const std::string name = desc.impl_info_str();
  return name.starts_with("ref") ? "gemm" + name.substr(3) : name;
}

double rnn_seconds(const Context& context, const Graph& graph, const Node& node,
                   const std::string& implementation) {
  const Work work = work_of(graph, node);
  return std::max(memory_seconds(context, work.bytes),
                  compute_seconds(context, work.multiply_adds, implementation, row_major(3)));
}

Layout workspace_layout() { return Layout("rnn workspace"); }

/// The time to read the weights in each step; 0 if they fit into L2. oneDNN's GEMM multiplies the
/// inputs of all steps at once if the batch is small. brgemm never does.
double weights_seconds(const Context& context, const Graph& graph, const Node& node,
                       const std::string& implementation) {
  constexpr std::int64_t kCacheBytes = std::int64_t{1} << 20;
  constexpr std::int64_t kLargestMerged = 127;
  const Shape& x = graph.shape(node.inputs[0]);
  const std::int64_t of_inputs = graph.shape(node.inputs[1]).elements();
  const std::int64_t of_states = graph.shape(node.inputs[2]).elements();
  const auto size = static_cast<std::int64_t>(size_of(graph.type(node.inputs[1]).dtype));
  if ((of_inputs + of_states) * size <= kCacheBytes) {
    return 0;
  }
  const bool merged = implementation.starts_with("gemm") && x[1] <= kLargestMerged;
  return memory_seconds(context, x[0] * (of_states + (merged ? 0 : of_inputs)) * size);
}

/// The candidate with the primitive for training or for inference, if oneDNN has it.
std::vector<Candidate> forward_candidate(Context& context, const Graph& graph, const Node& node,
                                         bool training) {
  const RnnLayer layer(graph, node, 0);
  const PrimitiveDesc desc = rnn_forward_primitive(context, layer, training);
  if (!desc) {
    return {};
  }
  std::vector<Argument> arguments;
  const auto add = [&](int id, From from, std::size_t position) {
    arguments.push_back({id, desc_of(desc, id), from, position});
  };
  add(DNNL_ARG_SRC_LAYER, From::input, 0);
  add(DNNL_ARG_WEIGHTS_LAYER, From::input, 1);
  add(DNNL_ARG_WEIGHTS_ITER, From::input, 2);
  add(DNNL_ARG_BIAS, From::input, 3);
  add(DNNL_ARG_SRC_ITER, From::input, 4);
  add(DNNL_ARG_DST_LAYER, From::output, 0);
  if (layer.attributes.cell == RnnCell::lstm) {
    add(DNNL_ARG_SRC_ITER_C, From::input, 4);
  }
  if (training) {
    add(DNNL_ARG_WORKSPACE, From::output, 1);
  }
  const RnnWorkspace parts(layer, desc, /*backward=*/false);
  Candidate candidate;
  candidate.implementation = implementation_of(desc);
  candidate.inputs = layouts_of(graph, node.inputs, nchw());
  candidate.inputs[1] =
      weights_layout(context, graph, node.inputs[1], desc_of(desc, DNNL_ARG_WEIGHTS_LAYER));
  candidate.inputs[2] =
      weights_layout(context, graph, node.inputs[2], desc_of(desc, DNNL_ARG_WEIGHTS_ITER));
  candidate.outputs = {row_major(3), workspace_layout()};
  candidate.opaque_bytes = {0, training ? desc_of(desc, DNNL_ARG_WORKSPACE).get_size() : 0};
  candidate.workspace_bytes = parts.bytes;
  candidate.seconds = std::max(rnn_seconds(context, graph, node, candidate.implementation),
                               weights_seconds(context, graph, node, candidate.implementation)) +
                      memory_seconds(context, static_cast<std::int64_t>(candidate.opaque_bytes[1]));
  candidate.make = [layer, parts,
                    make = make_primitive(context.engine, desc, std::move(arguments))] {
    return std::make_unique<RnnForward>(layer, make(), parts);
  };
  return {candidate};
}

}  // namespace

Support supports_rnn(const Graph& graph, const Node& node) {
  const bool backward = node.op == &kRnnBackward;
  if (node.attributes.as<RnnAttributes>().lengths) {
    return {.yes = false, .why_not = "onednn has no rnn for sequences of different lengths"};
  }
  if (graph.type(node.inputs[backward ? 1 : 0]).dtype == DType::f16) {
    return {.yes = false, .why_not = "onednn has no rnn in f16"};
  }
  return {};
}

std::vector<Candidate> rnn(Context& context, const Graph& graph, const Node& node,
                           DataFormat /*format*/) {
  std::vector<Candidate> candidates = forward_candidate(context, graph, node, /*training=*/true);
  if (!is_read(graph, node.outputs[1])) {
    const auto inference = forward_candidate(context, graph, node, /*training=*/false);
    candidates.insert(candidates.begin(), inference.begin(), inference.end());
  }
  return candidates;
}

std::vector<Candidate> rnn_backward(Context& context, const Graph& graph, const Node& node,
                                    DataFormat /*format*/) {
  const RnnLayer layer(graph, node, 1);
  const PrimitiveDesc desc = rnn_backward_primitive(context, layer);
  if (!desc) {
    return {};
  }
  std::vector<Argument> arguments;
  const auto add = [&](int id, From from, std::size_t position) {
    arguments.push_back({id, desc_of(desc, id), from, position});
  };
  add(DNNL_ARG_SRC_LAYER, From::input, 0);
  add(DNNL_ARG_WEIGHTS_LAYER, From::input, 1);
  add(DNNL_ARG_WEIGHTS_ITER, From::input, 2);
  add(DNNL_ARG_BIAS, From::input, 3);
  add(DNNL_ARG_SRC_ITER, From::input, 4);
  add(DNNL_ARG_DST_LAYER, From::input, 5);
  add(DNNL_ARG_WORKSPACE, From::input, 6);
  add(DNNL_ARG_DIFF_DST_LAYER, From::input, 7);
  add(DNNL_ARG_DIFF_SRC_LAYER, From::output, 0);
  add(DNNL_ARG_DIFF_WEIGHTS_LAYER, From::output, 1);
  add(DNNL_ARG_DIFF_WEIGHTS_ITER, From::output, 2);
  add(DNNL_ARG_DIFF_BIAS, From::output, 3);
  add(DNNL_ARG_DIFF_SRC_ITER, From::output, 4);
  if (layer.attributes.cell == RnnCell::lstm) {
    add(DNNL_ARG_SRC_ITER_C, From::input, 4);
    add(DNNL_ARG_DIFF_SRC_ITER_C, From::output, 5);
  }
  const RnnWorkspace parts(layer, desc, /*backward=*/true);
  const auto layout = [&](ValueId value, int id) {
    return weights_layout(context, graph, value, desc_of(desc, id));
  };
  Candidate candidate;
  candidate.implementation = implementation_of(desc);
  candidate.inputs = layouts_of(graph, node.inputs, nchw());
  candidate.inputs[2] = layout(node.inputs[2], DNNL_ARG_WEIGHTS_LAYER);
  candidate.inputs[3] = layout(node.inputs[3], DNNL_ARG_WEIGHTS_ITER);
  candidate.inputs.back() = workspace_layout();
  candidate.outputs = layouts_of(graph, node.outputs, nchw());
  candidate.outputs[1] = layout(node.outputs[1], DNNL_ARG_DIFF_WEIGHTS_LAYER);
  candidate.outputs[2] = layout(node.outputs[2], DNNL_ARG_DIFF_WEIGHTS_ITER);
  candidate.workspace_bytes = parts.bytes;
  candidate.seconds = rnn_seconds(context, graph, node, candidate.implementation);
  candidate.make = [&team = context.team, layer, parts,
                    make = make_primitive(context.engine, desc, std::move(arguments))] {
    return std::make_unique<RnnBackward>(team, layer, make(), parts);
  };
  return {candidate};
}

}  // namespace bench::onednn

#include "bench/verify/test/planted_faults.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "models/base/errors.h"
#include "models/base/half.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"
#include "models/ops/dropout.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/lrn.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"
#include "models/passes/rewrite.h"

namespace bench {
namespace {

using Replaced = std::optional<std::vector<ValueId>>;
using Changed = std::optional<Attributes>;

template <class Half, class Narrow>
void multiply_halves(const TensorView& view, float factor, const Narrow& narrow) {
  for (Half& value : std::span(view.as<Half>(), view.bytes / sizeof(Half))) {
    value = narrow(static_cast<double>(widen(value) * factor));
  }
}

void multiply(const TensorView& view, DType dtype, float factor) {
  switch (dtype) {
    case DType::f32:
      for (float& value : std::span(view.as<float>(), view.bytes / sizeof(float))) {
        value *= factor;
      }
      return;
    case DType::f64:
      for (double& value : std::span(view.as<double>(), view.bytes / sizeof(double))) {
        value *= static_cast<double>(factor);
      }
      return;
    case DType::bf16:
      return multiply_halves<Bfloat16>(view, factor, narrow_to_bfloat16);
    case DType::f16:
      return multiply_halves<Float16>(view, factor, narrow_to_float16);
    default:
      throw InternalError("only floating numbers are spoiled");
  }
}

class SpoiledKernel final : public Kernel {
 public:
  struct Target {
    SpoiledOutput spoiled;
    DType dtype;
  };
  SpoiledKernel(std::unique_ptr<Kernel> inner, std::vector<Target> targets)
      : inner_(std::move(inner)), targets_(std::move(targets)) {}
  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    inner_->launch(stream, inputs, outputs, workspace);
    for (const Target& target : targets_) {
      multiply(outputs[target.spoiled.output], target.dtype, target.spoiled.factor);
    }
  }

 private:
  std::unique_ptr<Kernel> inner_;
  std::vector<Target> targets_;
};

/// Replaces the node by one with other attributes.
template <class T, class Change>
Replaced with_attributes(Graph& graph, const Node& node, const Change& change) {
  T attributes = node.attributes.as<T>();
  change(attributes);
  return graph.add_node(*node.op, node.name, attributes, node.inputs);
}

bool lopsided(const Window& window) { return window.pad_before != window.pad_after; }

// --- in the network
// --------------------------------------------------------------------------------

Replaced other_epsilon(Graph& graph, const Node& node, int nth) {
  if (node.op != &kBatchNorm || nth != 0) {
    return {};
  }
  return with_attributes<BatchNormAttributes>(graph, node, [](auto& norm) { norm.epsilon *= 10; });
}

Replaced no_cut_at_six(Graph& graph, const Node& node, int) {
  if (node.op != &kActivation ||
      node.attributes.as<ActivationAttributes>().kind != ActivationKind::relu6) {
    return {};
  }
  return with_attributes<ActivationAttributes>(
      graph, node, [](auto& activation) { activation.kind = ActivationKind::relu; });
}

Replaced other_side_padded(Graph& graph, const Node& node, int) {
  if (node.op != &kConv2d || !lopsided(node.attributes.as<Conv2dAttributes>().window)) {
    return {};
  }
  return with_attributes<Conv2dAttributes>(
      graph, node, [](auto& conv) { std::swap(conv.window.pad_before, conv.window.pad_after); });
}

Replaced no_residual(Graph&, const Node& node, int nth) {
  if (node.op != &kAdd || nth != 0) {
    return {};
  }
  return std::vector<ValueId>{node.inputs[0]};
}

Replaced less_dropout(Graph& graph, const Node& node, int) {
  if (node.op != &kDropout) {
    return {};
  }
  return with_attributes<DropoutAttributes>(graph, node,
                                            [](auto& dropout) { dropout.keep += 0.1; });
}

// --- in the kernels
// --------------------------------------------------------------------------------

template <class T, class Change>
Changed changed(const Node& node, const Change& change) {
  T attributes = node.attributes.as<T>();
  return change(attributes) ? Changed(attributes) : Changed();
}

Changed kernel_without_cut(const Graph&, const Node& node) {
  const auto uncut = [](ActivationKind& kind) {
    const bool cuts = kind == ActivationKind::relu6;
    kind = cuts ? ActivationKind::relu : kind;
    return cuts;
  };
  if (node.op == &kActivation) {
    return changed<ActivationAttributes>(node, [&](auto& a) { return uncut(a.kind); });
  }
  if (node.op == &kBatchNorm || node.op == &kBatchNormInference) {
    return changed<BatchNormAttributes>(node,
                                        [&](auto& a) { return uncut(a.epilogue.activation); });
  }
  if (node.op == &kConv2d) {
    return changed<Conv2dAttributes>(node, [&](auto& a) { return uncut(a.epilogue.activation); });
  }
  return {};
}

Changed kernel_pads_other_side(const Graph&, const Node& node) {
  const auto swapped = [](auto& conv) {
    std::swap(conv.window.pad_before, conv.window.pad_after);
    return lopsided(conv.window);
  };
  if (node.op == &kConv2d) {
    return changed<Conv2dAttributes>(node, swapped);
  }
  if (node.op == &kConv2dBackwardData) {
    return changed<Conv2dBackwardDataAttributes>(node, swapped);
  }
  if (node.op == &kConv2dBackwardWeights) {
    return changed<Conv2dBackwardWeightsAttributes>(node, swapped);
  }
  return {};
}

Changed kernel_averages_slower(const Graph&, const Node& node) {
  if (node.op != &kMovingAverage) {
    return {};
  }
  return changed<MovingAverageAttributes>(node, [](auto& average) {
    for (Averaging& pair : average.pairs) {
      pair.decay = (1 + pair.decay) / 2;
    }
    return true;
  });
}

Changed kernel_forgets_besides(const Graph&, const Node& node) {
  if (node.op != &kMovingAverage) {
    return {};
  }
  return changed<MovingAverageAttributes>(node, [](auto& average) {
    for (Averaging& pair : average.pairs) {
      pair.factor *= 1.02;
    }
    return true;
  });
}

Changed kernel_halves_l2(const Graph&, const Node& node) {
  if (node.op != &kL2Loss) {
    return {};
  }
  return changed<L2LossAttributes>(node, [](auto& l2) {
    l2.coefficient /= 2;
    return true;
  });
}

Changed kernel_weighs_loss(const Graph&, const Node& node) {
  if (node.op != &kSoftmaxCrossEntropyBackward) {
    return {};
  }
  return changed<SoftmaxCrossEntropyAttributes>(node, [](auto& loss) {
    loss.weight *= 1.02;
    return true;
  });
}

Changed kernel_bends_lrn(const Graph&, const Node& node) {
  if (node.op != &kLrn) {
    return {};
  }
  return changed<LrnAttributes>(node, [](auto& lrn) {
    lrn.bias *= 1.1;
    return true;
  });
}

// --- in what kernels wrote
// -------------------------------------------------------------------------

bool is_weight_gradient(const Node& node) {
  return node.op == &kConv2dBackwardWeights || node.op == &kFullyConnectedBackwardWeights;
}

std::vector<SpoiledOutput> all_weight_gradients(const Graph&, const Node& node) {
  return is_weight_gradient(node) ? std::vector<SpoiledOutput>{{.factor = 0.99F}}
                                  : std::vector<SpoiledOutput>();
}

std::vector<SpoiledOutput> first_weight_gradient(const Graph& graph, const Node& node) {
  const auto nodes = graph.nodes();
  const auto first =
      std::find_if(nodes.begin(), nodes.end(), [](const Node& n) { return is_weight_gradient(n); });
  return first != nodes.end() && first->name == node.name && is_weight_gradient(node)
             ? std::vector<SpoiledOutput>{{.factor = -1}}
             : std::vector<SpoiledOutput>();
}

std::vector<SpoiledOutput> scale_gradients(const Graph&, const Node& node) {
  return node.op == &kBatchNormBackward && node.attributes.as<BatchNormAttributes>().scale
             ? std::vector<SpoiledOutput>{{.output = 2, .factor = 0}}
             : std::vector<SpoiledOutput>();
}

std::vector<SpoiledOutput> shift_gradients(const Graph&, const Node& node) {
  return node.op == &kBatchNormBackward ? std::vector<SpoiledOutput>{{.output = 1, .factor = 0}}
                                        : std::vector<SpoiledOutput>();
}

std::vector<SpoiledOutput> bias_gradients(const Graph&, const Node& node) {
  if (node.op == &kBiasBackward) {
    return {{.factor = 0}};
  }
  const bool has_bias = is_weight_gradient(node) && node.outputs.size() == 2;
  return has_bias ? std::vector<SpoiledOutput>{{.output = 1, .factor = 0}}
                  : std::vector<SpoiledOutput>();
}

template <const OpDef* kOp>
std::vector<SpoiledOutput> two_per_cent(const Graph&, const Node& node) {
  return node.op == kOp ? std::vector<SpoiledOutput>{{.factor = 1.02F}}
                        : std::vector<SpoiledOutput>();
}

std::vector<SpoiledOutput> unscaled_dropout(const Graph&, const Node& node) {
  if (node.op != &kDropout) {
    return {};
  }
  return {{.factor = static_cast<float>(node.attributes.as<DropoutAttributes>().keep)}};
}

}  // namespace

std::span<const PlantedFault> planted_faults() {
  static const std::vector<PlantedFault> kFaults{
      {.name = "zoo: epsilon of one batch norm", .network = other_epsilon},
      {.name = "zoo: ReLU for ReLU6", .network = no_cut_at_six},
      {.name = "zoo: padded on the other side", .network = other_side_padded},
      {.name = "zoo: a residual is missing", .network = no_residual},
      {.name = "zoo: dropout keeps more", .network = less_dropout},
      {.name = "kernels: no cut at 6", .kernel = kernel_without_cut},
      {.name = "kernels: padded on the other side", .kernel = kernel_pads_other_side},
      {.name = "kernels: moving averages move slower", .kernel = kernel_averages_slower},
      {.name = "kernels: moving averages take in 1.02 times", .kernel = kernel_forgets_besides},
      {.name = "kernels: half of the L2 term", .kernel = kernel_halves_l2},
      {.name = "kernels: loss gradient x 1.02", .kernel = kernel_weighs_loss},
      {.name = "kernels: LRN's bias", .kernel = kernel_bends_lrn},
      {.name = "kernels: convolution x 1.02", .outputs = two_per_cent<&kConv2d>},
      {.name = "kernels: its data gradient x 1.02", .outputs = two_per_cent<&kConv2dBackwardData>},
      {.name = "kernels: average pooling x 1.02", .outputs = two_per_cent<&kAvgPool>},
      {.name = "kernels: batch norm's data gradient x 1.02",
       .outputs = two_per_cent<&kBatchNormBackward>},
      {.name = "kernels: dropout does not scale", .outputs = unscaled_dropout},
      {.name = "gradients: all weights' x 0.99", .outputs = all_weight_gradients},
      {.name = "gradients: one weight's negated", .outputs = first_weight_gradient},
      {.name = "gradients: scales' are 0", .outputs = scale_gradients},
      {.name = "gradients: shifts' are 0", .outputs = shift_gradients},
      {.name = "gradients: biases' are 0", .outputs = bias_gradients},
      {.name = "optimizer: no decay",
       .optimizer = [](OptimizerSettings& settings) { settings.weight_decay = 0; }},
      {.name = "optimizer: momentum x 0.9",
       .optimizer = [](auto& settings) { std::get<MomentumRule>(settings.rule).momentum *= 0.9; }},
      {.name = "optimizer: rmsprop's epsilon x 0.99",
       .optimizer = [](auto& settings) { std::get<RmspropRule>(settings.rule).epsilon *= 0.99; },
       .optimizer_name = "rmsprop"},
      {.name = "optimizer: adam's epsilon x 2",
       .optimizer = [](auto& settings) { std::get<AdamRule>(settings.rule).epsilon *= 2; },
       .optimizer_name = "adam"},
      {.name = "optimizer: adam's beta2 x 0.999",
       .optimizer = [](auto& settings) { std::get<AdamRule>(settings.rule).beta2 *= 0.999; },
       .optimizer_name = "adam"},
  };
  return kFaults;
}

std::optional<Graph> spoiled_network(const PlantedFault& fault, const Graph& network) {
  bool touched = false;
  std::map<const OpDef*, int> counts;
  Graph spoiled = rewrite(network, [&](Graph& graph, const Node& node) {
    if (fault.network) {
      if (const auto replaced = fault.network(graph, node, counts[node.op]++)) {
        touched = true;
        return *replaced;
      }
    }
    return append(graph, node);
  });
  return touched ? std::optional(std::move(spoiled)) : std::nullopt;
}

std::vector<Candidate> PlantedBackend::candidates(const Graph& graph, const Node& node,
                                                  DataFormat format) {
  if (fault_.kernel) {
    if (const auto attributes = fault_.kernel(graph, node)) {
      ++touched_;
      const Graph other = rewrite(graph, [&](Graph& copy, const Node& entry) {
        return entry.name == node.name && entry.op == node.op
                   ? copy.add_node(*entry.op, entry.name, *attributes, entry.inputs)
                   : append(copy, entry);
      });
      const auto nodes = other.nodes();
      const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& entry) {
        return entry.name == node.name && entry.op == node.op;
      });
      return ForwardingBackend::candidates(other, *found, format);
    }
  }
  std::vector<Candidate> candidates = ForwardingBackend::candidates(graph, node, format);
  const auto spoiled = fault_.outputs ? fault_.outputs(graph, node) : std::vector<SpoiledOutput>();
  if (spoiled.empty()) {
    return candidates;
  }
  ++touched_;
  std::vector<SpoiledKernel::Target> targets;
  for (const SpoiledOutput& output : spoiled) {
    targets.push_back({.spoiled = output, .dtype = graph.type(node.outputs[output.output]).dtype});
  }
  for (Candidate& candidate : candidates) {
    candidate.make = [make = candidate.make, targets] {
      return std::make_unique<SpoiledKernel>(make(), targets);
    };
  }
  return candidates;
}

std::unique_ptr<Optimizer> PlantedBackend::make_optimizer(const OptimizerSettings& settings,
                                                          std::vector<OptimizerSegment> segments) {
  OptimizerSettings own = settings;
  if (fault_.optimizer) {
    fault_.optimizer(own);
    ++touched_;
  }
  return ForwardingBackend::make_optimizer(own, std::move(segments));
}

PlantedFault spoiled_node(std::string node, float factor) {
  return {.name = "one node's output",
          .outputs = [node = std::move(node), factor](const Graph&, const Node& candidate) {
            return candidate.name == node ? std::vector<SpoiledOutput>{{.factor = factor}}
                                          : std::vector<SpoiledOutput>();
          }};
}

}  // namespace bench

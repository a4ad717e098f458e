#include "bench/verify/picks.h"

#include <algorithm>

#include "models/ir/op.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/rnn.h"

namespace bench {
namespace {

constexpr std::int64_t kMostMultiplyAdds = std::int64_t{1} << 27;
constexpr std::int64_t kMostWeights = std::int64_t{1} << 20;

/// The computation of a layer with weights.
enum class Way : std::uint8_t { none, forward, backward_data, backward_weights };

Way way_of(const Node& node) {
  if (node.op == &kFullyConnected) {
    return Way::forward;
  }
  if (node.op == &kFullyConnectedBackwardData) {
    return Way::backward_data;
  }
  if (node.op == &kFullyConnectedBackwardWeights) {
    return Way::backward_weights;
  }
  // A grouped convolution cannot skip channels.
  if (node.op == &kConv2d) {
    return node.attributes.as<Conv2dAttributes>().groups == 1 ? Way::forward : Way::none;
  }
  if (node.op == &kConv2dBackwardData) {
    return node.attributes.as<Conv2dBackwardDataAttributes>().groups == 1 ? Way::backward_data
                                                                          : Way::none;
  }
  if (node.op == &kConv2dBackwardWeights) {
    return node.attributes.as<Conv2dBackwardWeightsAttributes>().groups == 1 ? Way::backward_weights
                                                                             : Way::none;
  }
  return Way::none;
}

/// The step between checked channels.
std::int64_t every_of(const Graph& graph, const Node& node, Way way) {
  const ValueId weights = way == Way::backward_weights ? node.outputs[0] : node.inputs[1];
  const std::int64_t channels = graph.shape(weights)[way == Way::backward_data ? 1 : 0];
  const auto parts = [](std::int64_t amount, std::int64_t most) {
    return (amount + most - 1) / most;
  };
  return std::min(channels, std::max(parts(work_of(graph, node).multiply_adds, kMostMultiplyAdds),
                                     parts(graph.shape(weights).elements(), kMostWeights)));
}

Pick along(const Graph& graph, ValueId id, std::size_t axis, std::int64_t every) {
  return {.axis = graph.shape(id).rank() == 1 ? 0 : axis, .every = every};
}

std::int64_t picked_elements(const Pick& pick, const Shape& shape) {
  return shape.elements() / pick.every;
}

/// The number of checked elements.
std::int64_t elements_of(const Graph& graph, const std::vector<ValueId>& values,
                         const std::vector<Pick>& picks) {
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TensorType& type = graph.type(values[i]);
    elements += type.opaque ? 0 : picked_elements(picks[i], type.shape);
  }
  return elements;
}

/// The bytes of the largest tensor that is checked in part.
std::size_t largest_part(const Graph& graph, const std::vector<ValueId>& values,
                         const std::vector<Pick>& picks) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TensorType& type = graph.type(values[i]);
    if (picks[i].every > 1) {
      const std::size_t element = std::max(sizeof(float), size_of(type.dtype));
      largest = std::max(largest, static_cast<std::size_t>(type.shape.elements()) * element);
    }
  }
  return largest;
}

}  // namespace

Picks picks_of(const Graph& graph, const Node& node) {
  Picks picks{.inputs = std::vector<Pick>(node.inputs.size()),
              .outputs = std::vector<Pick>(node.outputs.size())};
  const Way way = way_of(node);
  const std::int64_t every = way == Way::none ? 1 : every_of(graph, node, way);
  if (every == 1) {
    return picks;
  }
  if (way == Way::backward_weights) {
    picks.inputs[0] = along(graph, node.inputs[0], 1, every);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      picks.outputs[i] = along(graph, node.outputs[i], 0, every);
    }
    return picks;
  }
  picks.inputs[1] = along(graph, node.inputs[1], way == Way::forward ? 0 : 1, every);
  // A bias, a residual, an added gradient; but not a prologue's inputs, which have x's channels.
  const std::size_t prologue =
      node.op == &kConv2d ? prologue_count(node.attributes.as<Conv2dAttributes>().prologue) : 0;
  for (std::size_t i = 2; i + prologue < node.inputs.size(); ++i) {
    picks.inputs[i] = along(graph, node.inputs[i], 1, every);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {  // Including a batch norm's statistics.
    picks.outputs[i] = along(graph, node.outputs[i], 1, every);
  }
  return picks;
}

Attributes picked_attributes(const Graph& graph, const Node& node) {
  const Picks picks = picks_of(graph, node);
  const auto picked = [&](const Shape& shape) {
    const Pick& pick = picks.outputs[0];
    return shape.with(pick.axis, (shape[pick.axis] + pick.every - 1) / pick.every);
  };
  if (node.op == &kConv2dBackwardData) {
    auto attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
    attributes.input = picked(attributes.input);
    return attributes;
  }
  if (node.op == &kConv2dBackwardWeights) {
    auto attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
    attributes.weights = picked(attributes.weights);
    return attributes;
  }
  return node.attributes;
}

bool makes_opaque(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId id) { return graph.type(id).opaque; });
}

namespace {

/// What the reference keeps of all steps of one direction of a recurrent layer.
std::int64_t states_bytes(const Graph& graph, const Node& node) {
  if (node.op != &kRnn && node.op != &kRnnBackward) {
    return 0;
  }
  const std::size_t first = node.op == &kRnn ? 0 : 1;
  const Shape& x = graph.shape(node.inputs[first]);
  const Shape& weights = graph.shape(node.inputs[first + 1]);
  // Per unit: values of each gate, and states. The backward also has gradients.
  const std::int64_t values = (node.op == &kRnn ? 3 : 4) * weights[1] + (node.op == &kRnn ? 4 : 6);
  return x[0] * x[1] * weights[2] * values * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace

PlanCheckMemory plan_check_memory(const Graph& graph, int threads) {
  // Patches and Eigen's blocks.
  constexpr std::size_t kBytesPerThread = std::size_t{4} << 20;
  const auto read = [&](const Node& node) {
    return elements_of(graph, node.inputs, picks_of(graph, node).inputs);
  };
  // In f32, what was read and written. In f64, what was read and the result of each part, once
  // unchanged and once moved.
  const auto bytes_of = [&](const Node& node) {
    constexpr std::int64_t kWide = 2 * sizeof(double);
    constexpr std::int64_t kMostParts = 4;
    const bool fused = node.op->fused != nullptr && node.op->fused(node);
    // The second is an opaque output.
    const std::int64_t parts = fused ? kMostParts : 2;
    constexpr auto kNarrow = static_cast<std::int64_t>(sizeof(float));
    // On a GPU, the inputs of another copy of the images may be needed.
    const bool halves = std::ranges::any_of(
        node.inputs, [&](ValueId input) { return is_half(graph.type(input).dtype); });
    return states_bytes(graph, node) + (halves ? 2 : 1) * (kNarrow + kWide) * read(node) +
           (kNarrow + parts * kWide) *
               elements_of(graph, node.outputs, picks_of(graph, node).outputs);
  };
  std::int64_t most = 0;
  std::int64_t kept = 0;
  std::size_t whole = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op == &kL2Loss) {
      continue;  // It is not checked.
    }
    kept += makes_opaque(graph, node) ? read(node) : 0;
    std::int64_t bytes = bytes_of(node);
    for (const ValueId input : node.inputs) {
      if (graph.type(input).opaque) {
        bytes += bytes_of(graph.nodes()[static_cast<std::size_t>(graph.value(input).producer)]);
      }
    }
    most = std::max(most, bytes);
    const Picks picks = picks_of(graph, node);
    whole = std::max({whole, largest_part(graph, node.inputs, picks.inputs),
                      largest_part(graph, node.outputs, picks.outputs)});
  }
  return {
      .node = static_cast<std::size_t>(most) + static_cast<std::size_t>(threads) * kBytesPerThread,
      .kept = static_cast<std::size_t>(kept) * sizeof(float),
      .whole = whole};
}

}  // namespace bench

#include "models/passes/normalize_where_read.h"

#include <algorithm>
#include <optional>

#include "models/ir/op.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

/// A node that reads a value, and the input position.
struct Reader {
  std::size_t node = 0;
  std::size_t input = 0;
};

/// A batch norm whose result its readers will compute: its attributes and the values that they
/// need.
struct Source {
  BatchNormAttributes norm;
  ValueId z;
  /// The inputs of kBatchNormInference, without the first.
  std::vector<ValueId> inputs;
};

/// The source for a convolution with its batch norm; `outputs` and `node` are of the same graph.
Source source_of(const Node& node, std::span<const ValueId> outputs) {
  const BatchNormAttributes& norm = *node.attributes.as<Conv2dAttributes>().batch_norm;
  const BatchNormInputs at = batch_norm_inputs(norm);
  Source source{.norm = norm, .z = outputs[kNormalised], .inputs = {}};
  for (const int position : {at.gamma, at.beta}) {
    if (position >= 0) {
      // The filter comes before batch norm's inputs.
      source.inputs.push_back(node.inputs[static_cast<std::size_t>(position) + 1]);
    }
  }
  source.inputs.insert(source.inputs.end(), {outputs[1], outputs[2]});
  return source;
}

/// Returns true if the node has a batch norm whose result readers can compute from its input.
bool can_leave_out(const Node& node) {
  if (node.op != &kConv2d) {
    return false;
  }
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  return attributes.batch_norm && !attributes.statistics_only &&
         !attributes.batch_norm->epilogue.residual;
}

Node without_result(const Node& node) {
  auto attributes = node.attributes.as<Conv2dAttributes>();
  attributes.statistics_only = true;
  Node result = node;
  result.attributes = attributes;
  return result;
}

template <class T>
std::optional<Node> behind_prologue(const Node& node, const Source& source) {
  auto attributes = node.attributes.as<T>();
  if (attributes.groups != 1 || attributes.prologue) {
    return std::nullopt;
  }
  attributes.prologue = source.norm;
  Node result = node;
  result.attributes = attributes;
  result.inputs.insert(result.inputs.end(), source.inputs.begin(), source.inputs.end());
  return result;
}

/// The batch norm's backward node, without y.
std::optional<Node> with_mask(const Node& node, const Source& source) {
  auto attributes = node.attributes.as<BatchNormAttributes>();
  const BatchNormInputs at = batch_norm_backward_inputs(attributes);
  if (node.inputs[1] != source.z || attributes.two_gradients) {
    return std::nullopt;
  }
  attributes.mask_from_x = true;
  Node result = node;
  result.attributes = attributes;
  result.inputs.erase(result.inputs.begin() + at.y);
  const ValueId beta = source.inputs[source.norm.scale ? 1 : 0];
  result.inputs.insert(result.inputs.begin() + batch_norm_backward_inputs(attributes).beta, beta);
  return result;
}

/// `node` with its input `input` replaced by the source's values; nullopt if that is impossible.
std::optional<Node> reading(const Node& node, std::size_t input, const Source& source) {
  std::optional<Node> result;
  if (node.op == &kConv2d && input == 0) {
    result = behind_prologue<Conv2dAttributes>(node, source);
  } else if (node.op == &kConv2dBackwardWeights && input == 1) {
    result = behind_prologue<Conv2dBackwardWeightsAttributes>(node, source);
  } else if (node.op == &kBatchNormBackward) {
    const BatchNormInputs at =
        batch_norm_backward_inputs(node.attributes.as<BatchNormAttributes>());
    return static_cast<int>(input) == at.y ? with_mask(node, source) : std::nullopt;
  }
  if (result) {
    result->inputs[input] = source.z;
  }
  return result;
}

/// For each node, the convolution whose batch norm it computes, and the input that reads it.
struct Plan {
  std::vector<std::optional<std::size_t>> source;
  std::vector<std::size_t> input;
  /// For each convolution, true if its readers compute its batch norm.
  std::vector<bool> left_out;
};

/// Returns true if the device supports the convolution without its result, and all readers with
/// what replaces the result.
bool all_can(const Graph& graph, const Node& convolution, const std::vector<Reader>& readers,
             const SupportQuery& supports) {
  const Source source = source_of(convolution, convolution.outputs);
  const auto forward = std::ranges::count_if(
      readers, [&](const Reader& reader) { return graph.nodes()[reader.node].op == &kConv2d; });
  return forward == 1 && supports(graph, without_result(convolution)) &&
         std::ranges::all_of(readers, [&](const Reader& reader) {
           const auto node = reading(graph.nodes()[reader.node], reader.input, source);
           return node && supports(graph, *node);
         });
}

Plan make_plan(const Graph& graph, const SupportQuery& supports) {
  const std::size_t count = graph.nodes().size();
  std::vector<std::vector<Reader>> readers(graph.values().size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t input = 0; input < graph.nodes()[i].inputs.size(); ++input) {
      readers[at(graph.nodes()[i].inputs[input])].push_back({.node = i, .input = input});
    }
  }
  const std::vector<int> uses = count_uses(graph);
  Plan plan{.source = std::vector<std::optional<std::size_t>>(count),
            .input = std::vector<std::size_t>(count),
            .left_out = std::vector<bool>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = graph.nodes()[i];
    if (!can_leave_out(node)) {
      continue;
    }
    const auto source_index = plan.source[i];
    const Node* const source = source_index ? &graph.nodes()[*source_index] : nullptr;
    const Node planned = source == nullptr
                             ? node
                             : *reading(node, plan.input[i], source_of(*source, source->outputs));
    const std::vector<Reader>& of_result = readers[at(node.outputs[0])];
    // Something other than a node reads an output of the graph.
    if (static_cast<int>(of_result.size()) != uses[at(node.outputs[0])] ||
        !all_can(graph, planned, of_result, supports)) {
      continue;
    }
    plan.left_out[i] = true;
    for (const Reader& reader : of_result) {
      plan.source[reader.node] = i;
      plan.input[reader.node] = reader.input;
    }
  }
  return plan;
}

}  // namespace

Graph normalize_where_read(const Graph& graph, const SupportQuery& supports) {
  const Plan plan = make_plan(graph, supports);
  // Sources in the new graph.
  std::vector<std::optional<Source>> sources(graph.nodes().size());
  std::size_t next = 0;
  return rewrite(graph, [&](Graph& result, const Node& node) {
    const std::size_t index = next++;
    const Node read = plan.source[index]
                          ? *reading(node, plan.input[index], *sources[*plan.source[index]])
                          : node;
    if (!plan.left_out[index]) {
      return append(result, read);
    }
    const std::vector<ValueId> made = append(result, without_result(read));
    // The last entry is a placeholder for the batch norm's result, which is never read.
    const std::vector<ValueId> outputs{made[0], made[1], made[2], made[0]};
    sources[index] = source_of(node, outputs);
    return outputs;
  });
}

}  // namespace bench

#include "models/passes/quantize.h"

#include <map>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/concat_batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/pool.h"
#include "models/ops/quantized.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/quantize_plan.h"

namespace bench {
namespace {

/// Writes the quantised graph that a plan describes.
class Emitter {
 public:
  Emitter(const Graph& graph, const QuantizePlan& plan)
      : graph_(graph),
        plan_(plan),
        plain_(graph.values().size()),
        quantized_(graph.values().size()) {}

  QuantizedGraph run() {
    for (const ValueId id : graph_.inputs()) {
      plain_[at(id)] = result_.graph.add_input(graph_.value(id).name, graph_.type(id));
    }
    for (const Variable& variable : graph_.variables()) {
      add_variable(variable);
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      emit(n);
    }
    for (const auto& [name, id] : graph_.outputs()) {
      result_.graph.set_output(name, plain(id));
    }
    return std::move(result_);
  }

  /// The index of each node's quantised form; -1 if it stays in f32.
  [[nodiscard]] const std::vector<std::int32_t>& emitted() const { return emitted_; }

 private:
  void add_variable(const Variable& variable) {
    const Value& value = graph_.value(variable.value);
    if (!plan_.is_quantized_weight(variable.value)) {
      plain_[at(variable.value)] =
          result_.graph.add_variable(value.name, value.type, variable.role, variable.initial);
      return;
    }
    const QuantizedWeight weight{
        .weight = value.name, .scales = value.name + ".scales", .channels = value.type.shape[0]};
    quantized_[at(variable.value)] =
        result_.graph.add_variable(weight.weight, {.dtype = DType::s8, .shape = value.type.shape},
                                   variable.role, variable.initial);
    scales_[variable.value] = result_.graph.add_variable(
        weight.scales, {.dtype = DType::f32, .shape = {value.type.shape[0]}},
        VariableRole::quantum);
    result_.weights.push_back(weight);
  }

  /// The value in f32, or in whatever type it has that is not quantised.
  ValueId plain(ValueId id) {
    ValueId& form = plain_[at(id)];
    if (!form.valid()) {
      form = result_.graph.add_node(kDequantize, graph_.value(id).name + "/dequantize",
                                    DequantizeAttributes{.scale = plan_.scale(id)},
                                    {quantized_[at(id)]})[0];
    }
    return form;
  }

  ValueId quantized(ValueId id) {
    ValueId& form = quantized_[at(id)];
    if (!form.valid()) {
      form = result_.graph.add_node(
          kQuantize, graph_.value(id).name + "/quantize",
          QuantizeAttributes{.scale = plan_.scale(id), .dtype = plan_.dtype(id)},
          {plain_[at(id)]})[0];
    }
    return form;
  }

  [[nodiscard]] QuantizedOutput output_of(const Node& node) const {
    const ValueId y = node.outputs[0];
    return plan_.is_read_quantized(y)
               ? QuantizedOutput{.dtype = plan_.dtype(y), .scale = plan_.scale(y)}
               : QuantizedOutput{};
  }

  void keep(const Node& node, std::vector<ValueId> (Emitter::*form)(const Node&)) {
    const std::vector<ValueId> outputs = (this->*form)(node);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool to_quanta = is_quantized(result_.graph.type(outputs[i]).dtype);
      (to_quanta ? quantized_ : plain_)[at(node.outputs[i])] = outputs[i];
    }
  }

  void emit(std::size_t n) {
    const Node& node = graph_.nodes()[n];
    const bool quantizes = plan_.is_quantized(n);
    if (!quantizes) {
      keep(node, &Emitter::as_it_is);
    } else if (node.op == &kConv2d) {
      keep(node, &Emitter::conv2d);
    } else if (node.op == &kFullyConnected) {
      keep(node, &Emitter::fully_connected);
    } else if (node.op == &kAdd) {
      keep(node, &Emitter::add);
    } else if (node.op == &kBatchNormInference || node.op == &kConcatBatchNorm) {
      keep(node, &Emitter::batch_norm);
    } else if (node.op == &kSpatialMean) {
      keep(node, &Emitter::spatial_mean);
    } else {
      keep(node, &Emitter::on_quanta);
    }
    emitted_.push_back(quantizes ? static_cast<std::int32_t>(result_.graph.nodes().size()) - 1
                                 : -1);
  }

  std::vector<ValueId> plain_inputs(const Node& node) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) {
      inputs.push_back(plain(id));
    }
    return inputs;
  }

  std::vector<ValueId> as_it_is(const Node& node) {
    return result_.graph.add_node(*node.op, node.name, node.attributes, plain_inputs(node));
  }

  std::vector<ValueId> on_quanta(const Node& node) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) {
      inputs.push_back(quantized(id));
    }
    return result_.graph.add_node(*node.op, node.name, node.attributes, inputs);
  }

  /// x, the weight and its scales, and the bias if it exists.
  std::vector<ValueId> layer_inputs(const Node& node, const Epilogue& epilogue) {
    std::vector<ValueId> inputs{quantized(node.inputs[0]), quantized_[at(node.inputs[1])],
                                scales_.at(node.inputs[1])};
    if (epilogue.bias) {
      inputs.push_back(plain(node.inputs[2]));
    }
    return inputs;
  }

  std::vector<ValueId> conv2d(const Node& node) {
    QuantizedConv2dAttributes attributes{.conv = node.attributes.as<Conv2dAttributes>(),
                                         .input_scale = plan_.scale(node.inputs[0]),
                                         .output = output_of(node)};
    std::vector<ValueId> inputs = layer_inputs(node, attributes.conv.epilogue);
    if (attributes.conv.epilogue.residual && attributes.output.dtype == DType::f32) {
      inputs.push_back(plain(node.inputs.back()));
    } else if (attributes.conv.epilogue.residual) {
      attributes.residual_scale = plan_.scale(node.inputs.back());
      inputs.push_back(quantized(node.inputs.back()));
    }
    return result_.graph.add_node(kQuantizedConv2d, node.name, attributes, inputs);
  }

  std::vector<ValueId> fully_connected(const Node& node) {
    const QuantizedFullyConnectedAttributes attributes{
        .layer = node.attributes.as<FullyConnectedAttributes>(),
        .input_scale = plan_.scale(node.inputs[0]),
        .output = output_of(node)};
    return result_.graph.add_node(kQuantizedFullyConnected, node.name, attributes,
                                  layer_inputs(node, attributes.layer.epilogue));
  }

  std::vector<ValueId> add(const Node& node) {
    const QuantizedAddAttributes attributes{.first_scale = plan_.scale(node.inputs[0]),
                                            .second_scale = plan_.scale(node.inputs[1]),
                                            .output = output_of(node)};
    return result_.graph.add_node(kQuantizedAdd, node.name, attributes,
                                  {quantized(node.inputs[0]), quantized(node.inputs[1])});
  }

  std::vector<ValueId> batch_norm(const Node& node) {
    auto attributes =
        node.op == &kConcatBatchNorm
            ? node.attributes.as<ConcatBatchNormAttributes>()
            : ConcatBatchNormAttributes{.norm = node.attributes.as<BatchNormAttributes>()};
    const ValueId y = node.outputs[0];
    attributes.quantize = {.scale = plan_.scale(y), .dtype = plan_.dtype(y)};
    return result_.graph.add_node(kConcatBatchNorm, node.name, attributes, plain_inputs(node));
  }

  std::vector<ValueId> spatial_mean(const Node& node) {
    return result_.graph.add_node(kQuantizedSpatialMean, node.name,
                                  DequantizeAttributes{.scale = plan_.scale(node.inputs[0])},
                                  {quantized(node.inputs[0])});
  }

  const Graph& graph_;
  const QuantizePlan& plan_;
  QuantizedGraph result_;
  /// Both forms of each value, if they exist.
  std::vector<ValueId> plain_;
  std::vector<ValueId> quantized_;
  std::map<ValueId, ValueId> scales_;
  std::vector<std::int32_t> emitted_;
};

}  // namespace

std::vector<ValueId> values_with_range(const Graph& graph) {
  const QuantizePlan plan(graph, unknown_ranges(graph), {});
  std::vector<ValueId> ids;
  for (std::int32_t v = 0; v < static_cast<std::int32_t>(graph.values().size()); ++v) {
    if (plan.is_read_quantized({v})) {
      ids.push_back({v});
    }
  }
  return ids;
}

Ranges unknown_ranges(const Graph& graph) {
  Ranges ranges;
  for (const Value& value : graph.values()) {
    ranges[value.name] = {.low = -1, .high = 1};
  }
  return ranges;
}

QuantizedGraph quantize(const Graph& graph, const Ranges& ranges, const SupportQuery& supports) {
  check(graph.updates().empty() && graph.gradients().empty(),
        "quantize: the graph must be an inference graph");
  // The device is asked about nodes of the finished graph, and what it refuses changes the types
  // around.
  std::map<std::size_t, std::string> refused;
  while (true) {
    const QuantizePlan plan(graph, ranges, refused);
    Emitter emitter(graph, plan);
    QuantizedGraph result = emitter.run();
    const std::size_t before = refused.size();
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      const std::int32_t index = emitter.emitted()[n];
      if (index < 0) {
        continue;
      }
      const Node& node = result.graph.nodes()[static_cast<std::size_t>(index)];
      if (const Support support = supports(result.graph, node); !support) {
        refused.emplace(n, fmt::format("{} ({})", support.why_not, node.name));
      }
    }
    if (refused.size() == before) {
      for (const auto& [n, why] : refused) {
        const OpDef* const op = graph.nodes()[n].op;
        if (op != &kBatchNormInference && op != &kConcatBatchNorm) {
          result.refusals.push_back(why);
        }
      }
      return result;
    }
  }
}

}  // namespace bench

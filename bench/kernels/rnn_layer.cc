#include "bench/kernels/rnn_layer.h"

#include "models/base/errors.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/channel_slice.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/multiply.h"

namespace bench {
namespace {

constexpr auto kVanilla = RnnCell::relu;
constexpr auto kLstm = RnnCell::lstm;
constexpr auto kGru = RnnCell::gru_reset_after;

/// Builds the layer from elementary ops.
class Stepwise {
 public:
  Stepwise(Graph& graph, const RnnLayerSize& size) : graph_(graph), size_(size) {
    const std::int64_t rows = gates_of(size.cell) * size.units;
    w_x_ = variable("w_x", {rows, size.units}, VariableRole::weight);
    w_h_ = variable("w_h", {rows, size.units}, VariableRole::weight);
    b_x_ = variable("b_x", {rows}, VariableRole::bias);
  }

  /// Returns the states of all steps.
  std::vector<ValueId> states() {
    std::vector<ValueId> result;
    for (std::int64_t t = 0; t < size_.steps; ++t) {
      step_ = fmt::format("step{}/", t);
      const ValueId x =
          variable(fmt::format("x{}", t), {size_.batch, size_.units}, VariableRole::weight);
      h_ = next(gates(x));
      result.push_back(h_);
    }
    return result;
  }

 private:
  ValueId variable(const std::string& name, const Shape& shape, VariableRole role) {
    return graph_.add_variable(name, {.dtype = DType::f32, .shape = shape}, role);
  }
  ValueId node(const OpDef& op, const std::string& name, const Attributes& attributes,
               std::vector<ValueId> inputs) {
    return graph_.add_node(op, step_ + name, attributes, std::move(inputs))[0];
  }
  ValueId activated(ActivationKind kind, const std::string& name, ValueId x) {
    return node(kActivation, name, ActivationAttributes{kind}, {x});
  }
  ValueId product(const std::string& name, ValueId a, ValueId b) {
    return node(kMultiply, name, {}, {a, b});
  }
  ValueId gate(const std::string& name, ValueId all, std::int64_t index) {
    return node(kChannelSlice, name,
                ChannelSliceAttributes{.begin = index * size_.units, .count = size_.units}, {all});
  }

  /// w_x x + b_x + w_h h; the first state is 0.
  ValueId gates(ValueId x) {
    const ValueId of_x =
        node(kFullyConnected, "of_x", FullyConnectedAttributes{.epilogue = {.bias = true}},
             {x, w_x_, b_x_});
    if (!h_.valid()) {
      return of_x;
    }
    return node(kAdd, "gates", {},
                {of_x, node(kFullyConnected, "of_h", FullyConnectedAttributes{}, {h_, w_h_})});
  }

  ValueId next(ValueId all) {
    if (size_.cell != RnnCell::lstm) {
      return activated(size_.cell == RnnCell::relu ? ActivationKind::relu : ActivationKind::tanh,
                       "h", all);
    }
    const ValueId i = activated(ActivationKind::sigmoid, "i", gate("of_i", all, 0));
    const ValueId g = activated(ActivationKind::tanh, "g", gate("of_g", all, 2));
    const ValueId o = activated(ActivationKind::sigmoid, "o", gate("of_o", all, 3));
    const ValueId fresh = product("i_g", i, g);
    if (c_.valid()) {
      const ValueId f = activated(ActivationKind::sigmoid, "f", gate("of_f", all, 1));
      c_ = node(kAdd, "c", {}, {product("f_c", f, c_), fresh});
    } else {
      c_ = fresh;
    }
    return product("h", o, activated(ActivationKind::tanh, "tanh_c", c_));
  }

  Graph& graph_;
  RnnLayerSize size_;
  ValueId w_x_;
  ValueId w_h_;
  ValueId b_x_;
  /// The states of the step before; invalid before the first step.
  ValueId h_;
  ValueId c_;
  std::string step_;
};

ValueId add_fused(Graph& graph, const RnnLayerSize& size) {
  const std::int64_t gates = gates_of(size.cell);
  const Shape weights{1, gates, size.units, size.units};
  const auto variable = [&](const char* name, const Shape& shape, VariableRole role) {
    return graph.add_variable(name, {.dtype = DType::f32, .shape = shape}, role);
  };
  const ValueId w_x = variable("w_x", weights, VariableRole::weight);
  const ValueId w_h = variable("w_h", weights, VariableRole::weight);
  const ValueId b_x = variable("b_x", {gates * size.units}, VariableRole::bias);
  const ValueId x = variable("x", {size.steps, size.batch, size.units}, VariableRole::weight);
  return graph.add_node(kRnn, "rnn", RnnAttributes{.cell = size.cell}, {x, w_x, w_h, b_x})[0];
}

/// Layers of one cell with all combinations of these units and batches.
struct LayerGroup {
  RnnCell cell = RnnCell::lstm;
  std::vector<std::int64_t> units;
  std::vector<std::int64_t> batches;
  std::int64_t steps = 0;
};

std::vector<RnnLayerSize> layers_of(const std::vector<LayerGroup>& groups) {
  std::vector<RnnLayerSize> layers;
  for (const LayerGroup& group : groups) {
    for (const std::int64_t units : group.units) {
      for (const std::int64_t batch : group.batches) {
        layers.push_back(
            {.cell = group.cell, .units = units, .batch = batch, .steps = group.steps});
      }
    }
  }
  return layers;
}

}  // namespace

std::string name_of(const RnnLayerSize& size) {
  return fmt::format("{}/h{}/n{}/t{}", name_of(size.cell), size.units, size.batch, size.steps);
}

std::string_view name_of(RnnForm form) { return form == RnnForm::fused ? "fused" : "stepwise"; }

std::vector<RnnLayerSize> training_layers() {
  return layers_of({{kVanilla, {1760, 2048, 2560}, {16, 32, 64, 128}, 50},
                    {kLstm, {512, 1024, 2048, 4096}, {16, 32, 64, 128}, 25},
                    {kLstm, {1536}, {8, 16, 32}, 50},
                    {kLstm, {256}, {16, 32, 64}, 150},
                    {kGru, {1536, 2048, 2560, 2816}, {32}, 187},
                    {kGru, {512}, {32}, 1},
                    {kGru, {1024}, {32, 64}, 1500}});
}

std::vector<RnnLayerSize> inference_layers() {
  return layers_of({{kVanilla, {32}, {1}, 672},
                    {kVanilla, {64}, {1}, 96},
                    {kLstm, {512, 1024, 2048}, {1, 2, 4}, 25},
                    {kLstm, {1536}, {1, 2, 4}, 50},
                    {kLstm, {256}, {1, 2, 4}, 150},
                    {kGru, {1536, 2048, 2560, 2816}, {1, 2, 4}, 187},
                    {kGru, {512}, {1, 2, 4}, 1},
                    {kGru, {1024}, {1, 2, 4}, 1500}});
}

bool has_stepwise_form(RnnCell cell) {
  return cell != RnnCell::gru_reset_before && cell != RnnCell::gru_reset_after;
}

Graph rnn_layer_graph(const RnnLayerSize& size, RnnForm form, bool loss) {
  Graph graph;
  std::vector<ValueId> states;
  if (form == RnnForm::fused) {
    states = {add_fused(graph, size)};
    graph.set_output("y", states[0]);
  } else {
    check(has_stepwise_form(size.cell), "this cell has no form step by step");
    states = Stepwise(graph, size).states();
    for (std::size_t t = 0; t < states.size(); ++t) {
      graph.set_output(fmt::format("y{}", t), states[t]);
    }
  }
  if (loss) {
    graph.set_output(
        "loss", graph.add_node(kL2Loss, "loss", L2LossAttributes{.coefficient = 1}, states)[0]);
  }
  return graph;
}

}  // namespace bench

#include "models/ops/rnn.h"

#include <ostream>

#include "models/base/errors.h"

namespace bench {
namespace {

/// The number of inputs of the forward.
std::size_t inputs_of(const RnnAttributes& attributes) {
  return 4 + (attributes.hidden_bias ? 1U : 0U) + (attributes.lengths ? 1U : 0U);
}

/// Checks the forward's inputs, of which the first is at position `first`.
void require_layer(const OpContext& context, std::size_t first) {
  const auto& attributes = context.attributes.as<RnnAttributes>();
  const auto shape = [&](std::size_t input) { return context.inputs[first + input].shape; };
  const auto require = [&](std::string_view subject, std::int64_t given, std::string_view unit,
                           std::int64_t expected, std::string_view axis) {
    require_extent(context, {.subject = subject,
                             .given = given,
                             .unit = unit,
                             .other = "the layer needs",
                             .expected = expected,
                             .axis = axis});
  };
  require_rank(context, first, 3);
  require_rank(context, first + 1, 4);
  require_rank(context, first + 2, 4);
  const Shape weights = shape(1);
  if (weights[0] != 1 && weights[0] != 2) {
    throw UsageError(fmt::format("{}: the weights have {} directions, but 1 or 2 are possible ({})",
                                 context.op, weights[0], context.node));
  }
  require("the weights have", weights[1], "gates", gates_of(attributes.cell), "G");
  require("the weights have", weights[3], "inputs", shape(0)[2], "I");
  for (const std::size_t axis : {0U, 1U, 2U}) {
    require("the hidden weights have extent", shape(2)[axis], "", weights[axis],
            std::string_view("DGH").substr(axis, 1));
  }
  require("the hidden weights have", shape(2)[3], "inputs", weights[2], "H");
  for (std::size_t bias = 3; bias < (attributes.hidden_bias ? 5U : 4U); ++bias) {
    require_rank(context, first + bias, 1);
    require("the bias has", shape(bias)[0], "elements", weights[0] * weights[1] * weights[2], "H");
  }
  const DType dtype = context.inputs[first].dtype;
  check(context.inputs[first + 1].dtype == dtype && context.inputs[first + 2].dtype == dtype,
        "the weights of a recurrent layer must have the input's type");
  check(context.inputs[first + 3].dtype == accumulation_type(dtype),
        "the biases of a recurrent layer must be f32, or f64 if the input is");
  if (attributes.lengths) {
    const std::size_t lengths = inputs_of(attributes) - 1;
    require_rank(context, first + lengths, 1);
    check(context.inputs[first + lengths].dtype == DType::s32, "lengths must be s32");
    require("there are", shape(lengths)[0], "lengths", shape(0)[1], "N");
  }
}

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, inputs_of(context.attributes.as<RnnAttributes>()));
  require_layer(context, 0);
  const auto& attributes = context.attributes.as<RnnAttributes>();
  check(attributes.forget_bias == 0 || attributes.cell == RnnCell::lstm,
        "only an LSTM has forget gates");
  const TensorType& x = context.inputs[0];
  const Shape& weights = context.inputs[1].shape;
  return {{.dtype = x.dtype, .shape = x.shape.with(2, weights[0] * weights[2])},
          {.dtype = DType::u8, .shape = {}, .opaque = true}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const Node node = context.node;
  std::vector<ValueId> inputs{context.output_gradients[0]};
  inputs.insert(inputs.end(), node.inputs.begin(), node.inputs.end());
  inputs.insert(inputs.end(), node.outputs.begin(), node.outputs.end());
  std::vector<ValueId> gradients = context.graph.add_node(kRnnBackward, node.name + "/backward",
                                                          node.attributes, std::move(inputs));
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = context.wanted(i) ? gradients[i] : ValueId();
  }
  gradients.resize(node.inputs.size());
  return gradients;
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  const auto& attributes = context.attributes.as<RnnAttributes>();
  require_inputs(context, 1 + inputs_of(attributes) + 2);
  require_layer(context, 1);
  require_same_shape(context, 0, 1 + inputs_of(attributes));
  std::vector<TensorType> outputs{context.inputs[1]};
  for (std::size_t i = 2; i < (attributes.hidden_bias ? 6U : 5U); ++i) {
    outputs.push_back(
        {.dtype = accumulation_type(context.inputs[i].dtype), .shape = context.inputs[i].shape});
  }
  return outputs;
}

/// Multiply-adds of one pass over the sequence; `first` is the position of x.
std::int64_t products(const Graph& graph, const Node& node, std::size_t first) {
  const Shape& x = graph.shape(node.inputs[first]);
  return x[0] * x[1] *
         (graph.shape(node.inputs[first + 1]).elements() +
          graph.shape(node.inputs[first + 2]).elements());
}

std::int64_t multiply_adds_forward(const Graph& graph, const Node& node) {
  return products(graph, node, 0);
}

std::int64_t multiply_adds_backward(const Graph& graph, const Node& node) {
  return 2 * products(graph, node, 1);
}

}  // namespace

std::string_view name_of(RnnCell cell) {
  switch (cell) {
    case RnnCell::relu:
      return "rnn_relu";
    case RnnCell::tanh:
      return "rnn_tanh";
    case RnnCell::lstm:
      return "lstm";
    case RnnCell::gru_reset_before:
      return "gru_reset_before";
    case RnnCell::gru_reset_after:
      return "gru_reset_after";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, const RnnAttributes& attributes) {
  out << name_of(attributes.cell) << (attributes.hidden_bias ? " +hidden_bias" : "")
      << (attributes.lengths ? " +lengths" : "");
  return attributes.forget_bias == 0 ? out : out << " +forget_bias " << attributes.forget_bias;
}

const OpDef kRnn{
    .name = "rnn", .infer = infer, .gradient = gradient, .multiply_adds = multiply_adds_forward};
const OpDef kRnnBackward{
    .name = "rnn_backward", .infer = infer_backward, .multiply_adds = multiply_adds_backward};

}  // namespace bench

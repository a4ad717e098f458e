#include "models/ops/rnn.h"

#include <algorithm>
#include <vector>

#include "kernels/reference/operations.h"
#include "kernels/reference/product.h"

namespace bench::reference {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Columns = Eigen::Block<Rows, Eigen::Dynamic, Eigen::Dynamic, false>;

/// The inputs of a layer, and its extents.
struct Layer {
  Layer(const RnnAttributes& attributes, std::span<const Tensor> in)
      : cell(attributes.cell),
        x(in[0]),
        w_x(in[1]),
        w_h(in[2]),
        b_x(in[3]),
        b_h(attributes.hidden_bias ? &in[4] : nullptr),
        lengths(attributes.lengths ? &in[attributes.hidden_bias ? 5 : 4] : nullptr),
        forget_bias(attributes.forget_bias),
        steps(x.shape[0]),
        batch(x.shape[1]),
        directions(w_x.shape[0]),
        gates(w_x.shape[1]),
        units(w_x.shape[2]) {}

  /// The rows of step t of a sequence: N by its elements.
  [[nodiscard]] Matrix at(const Tensor& sequence, std::int64_t t) const {
    const std::int64_t width = sequence.shape[2];
    return {sequence.data + t * batch * width, batch, width};
  }
  /// The weights or their gradients of a direction: G * H rows.
  [[nodiscard]] Matrix of(const Tensor& weights, std::int64_t direction) const {
    const std::int64_t rows = gates * units;
    const std::int64_t width = weights.shape[3];
    return {weights.data + direction * rows * width, rows, width};
  }
  /// A bias or its gradient of a direction, as one row.
  [[nodiscard]] Matrix bias_of(const Tensor& bias, std::int64_t direction) const {
    return {bias.data + direction * gates * units, 1, gates * units};
  }
  [[nodiscard]] bool active(std::int64_t t, std::int64_t n) const {
    return lengths == nullptr || static_cast<double>(t) < (*lengths)[n];
  }
  /// The step that a direction computes as number i.
  [[nodiscard]] std::int64_t step(std::int64_t direction, std::int64_t i) const {
    return direction == 0 ? i : steps - 1 - i;
  }
  [[nodiscard]] Columns gate(Rows& all, std::int64_t index) const {
    return all.middleCols(index * units, units);
  }

  RnnCell cell;
  const Tensor& x;
  const Tensor& w_x;
  const Tensor& w_h;
  const Tensor& b_x;
  const Tensor* b_h;
  const Tensor* lengths;
  double forget_bias;
  std::int64_t steps;
  std::int64_t batch;
  std::int64_t directions;
  std::int64_t gates;
  std::int64_t units;
};

struct State {
  Rows h;
  Rows c;
};

/// What the backward needs of a step.
struct Step {
  State before;
  /// The gates after their functions; N x G*H.
  Rows gates;
  /// w_h h + b_h.
  Rows hidden;
  /// Also for sequences that have ended.
  State after;
};

template <class Values>
auto sigmoid(const Values& x) {
  return 1 / (1 + (-x.array()).exp());
}

/// Everything after the gates z and r of a GRU.
void finish_gru(const Layer& layer, std::int64_t direction, const Rows& given, Step& step) {
  const auto h = step.before.h.array();
  const auto z = layer.gate(step.gates, 0).array();
  const auto r = layer.gate(step.gates, 1).array();
  auto n = layer.gate(step.gates, 2);
  const auto a_n = given.middleCols(2 * layer.units, layer.units).array();
  if (layer.cell == RnnCell::gru_reset_after) {
    n = (a_n + r * layer.gate(step.hidden, 2).array()).tanh();
  } else {
    const auto w_hn = layer.of(layer.w_h, direction).bottomRows(layer.units);
    Rows product = (r * h).matrix() * w_hn.transpose();
    if (layer.b_h != nullptr) {
      product.rowwise() += layer.bias_of(*layer.b_h, direction).row(0).tail(layer.units);
    }
    n = (a_n + product.array()).tanh();
  }
  step.after.h = z * h + (1 - z) * n.array();
}

/// `given` is w_x x + b_x of the step.
Step advance(const Layer& layer, std::int64_t direction, const Rows& given, State before,
             const Crew& crew) {
  Step step{.before = std::move(before), .gates = {}, .hidden = {}, .after = {}};
  step.hidden.resize(layer.batch, layer.gates * layer.units);
  crew.for_each(layer.gates, [&](std::int64_t gate, double*) {
    layer.gate(step.hidden, gate).noalias() =
        step.before.h *
        layer.of(layer.w_h, direction).middleRows(gate * layer.units, layer.units).transpose();
  });
  if (layer.b_h != nullptr) {
    step.hidden.rowwise() += layer.bias_of(*layer.b_h, direction).row(0);
  }
  const Rows sum = given + step.hidden;
  step.after.c = step.before.c;
  switch (layer.cell) {
    case RnnCell::relu:
      step.gates = sum.cwiseMax(0);
      step.after.h = step.gates;
      break;
    case RnnCell::tanh:
      step.gates = sum.array().tanh();
      step.after.h = step.gates;
      break;
    case RnnCell::lstm: {
      step.gates = sigmoid(sum);
      auto g = layer.gate(step.gates, 2);
      g = sum.middleCols(2 * layer.units, layer.units).array().tanh();
      step.after.c = layer.gate(step.gates, 1).array() * step.before.c.array() +
                     layer.gate(step.gates, 0).array() * g.array();
      step.after.h = layer.gate(step.gates, 3).array() * step.after.c.array().tanh();
      break;
    }
    case RnnCell::gru_reset_before:
    case RnnCell::gru_reset_after:
      step.gates = sigmoid(sum);
      finish_gru(layer, direction, given, step);
      break;
  }
  return step;
}

Factor factor_of(const Rows& rows) { return {rows.data(), rows.cols(), 1}; }
Factor factor_of(const Matrix& matrix) { return {matrix.data(), matrix.cols(), 1}; }

/// w_x x + b_x of all steps of a direction, in their order in x.
Rows given_of(const Layer& layer, std::int64_t direction, const Crew& crew) {
  const Matrix w_x = layer.of(layer.w_x, direction);
  Rows given(layer.steps * layer.batch, layer.gates * layer.units);
  multiply(crew, {.rows = given.rows(),
                  .depth = w_x.cols(),
                  .columns = given.cols(),
                  .a = {layer.x.data, w_x.cols(), 1},
                  .b = factor_of(w_x).transposed(),
                  .c = given.data(),
                  .row_stride = given.cols()});
  given.rowwise() += layer.bias_of(layer.b_x, direction).row(0);
  if (layer.cell == RnnCell::lstm) {
    layer.gate(given, 1).array() += layer.forget_bias;
  }
  return given;
}

/// All steps of a direction, in the order in which they are computed.
std::vector<Step> run_forward(const Layer& layer, std::int64_t direction, const Crew& crew) {
  const Rows given = given_of(layer, direction, crew);
  std::vector<Step> steps;
  State state{.h = Rows::Zero(layer.batch, layer.units), .c = Rows::Zero(layer.batch, layer.units)};
  for (std::int64_t i = 0; i < layer.steps; ++i) {
    const std::int64_t t = layer.step(direction, i);
    steps.push_back(
        advance(layer, direction, given.middleRows(t * layer.batch, layer.batch), state, crew));
    for (std::int64_t n = 0; n < layer.batch; ++n) {
      if (layer.active(t, n)) {
        state.h.row(n) = steps.back().after.h.row(n);
        state.c.row(n) = steps.back().after.c.row(n);
      }
    }
  }
  return steps;
}

/// The gradients of one step: of w_x x + b_x, of w_h h + b_h, and of the state before it.
struct StepGradient {
  Rows given;
  Rows hidden;
  State before;
};

StepGradient lstm_gradient(const Layer& layer, Step& step, const State& after) {
  StepGradient d{.given = Rows(layer.batch, layer.gates * layer.units), .hidden = {}, .before = {}};
  const auto i = layer.gate(step.gates, 0).array();
  const auto f = layer.gate(step.gates, 1).array();
  const auto g = layer.gate(step.gates, 2).array();
  const auto o = layer.gate(step.gates, 3).array();
  const Eigen::ArrayXXd tanh_c = step.after.c.array().tanh();
  const Eigen::ArrayXXd dc = after.c.array() + after.h.array() * o * (1 - tanh_c.square());
  layer.gate(d.given, 0) = dc * g * i * (1 - i);
  layer.gate(d.given, 1) = dc * step.before.c.array() * f * (1 - f);
  layer.gate(d.given, 2) = dc * i * (1 - g.square());
  layer.gate(d.given, 3) = after.h.array() * tanh_c * o * (1 - o);
  d.before.c = dc * f;
  d.hidden = d.given;
  return d;
}

StepGradient gru_gradient(const Layer& layer, std::int64_t direction, Step& step, const Rows& dh) {
  StepGradient d{.given = Rows(layer.batch, layer.gates * layer.units), .hidden = {}, .before = {}};
  const auto h = step.before.h.array();
  const auto z = layer.gate(step.gates, 0).array();
  const auto r = layer.gate(step.gates, 1).array();
  const auto n = layer.gate(step.gates, 2).array();
  const Rows dn = dh.array() * (1 - z) * (1 - n.square());
  layer.gate(d.given, 0) = dh.array() * (h - n) * z * (1 - z);
  layer.gate(d.given, 2) = dn;
  d.before.h = dh.array() * z;
  if (layer.cell == RnnCell::gru_reset_after) {
    layer.gate(d.given, 1) = dn.array() * layer.gate(step.hidden, 2).array() * r * (1 - r);
    d.hidden = d.given;
    layer.gate(d.hidden, 2).array() *= r;
  } else {
    const Rows product = dn * layer.of(layer.w_h, direction).bottomRows(layer.units);
    layer.gate(d.given, 1) = product.array() * h * r * (1 - r);
    d.before.h.array() += product.array() * r;
    d.hidden = d.given;
  }
  return d;
}

StepGradient gradient_of(const Layer& layer, std::int64_t direction, Step& step,
                         const State& after) {
  StepGradient d;
  switch (layer.cell) {
    case RnnCell::relu:
      d.given = after.h.array() * (step.gates.array() > 0).cast<double>();
      d.hidden = d.given;
      break;
    case RnnCell::tanh:
      d.given = after.h.array() * (1 - step.gates.array().square());
      d.hidden = d.given;
      break;
    case RnnCell::lstm:
      d = lstm_gradient(layer, step, after);
      break;
    case RnnCell::gru_reset_before:
    case RnnCell::gru_reset_after:
      d = gru_gradient(layer, direction, step, after.h);
      break;
  }
  if (d.before.h.size() == 0) {
    d.before.h = Rows::Zero(layer.batch, layer.units);
  }
  if (d.before.c.size() == 0) {
    d.before.c = Rows::Zero(layer.batch, layer.units);
  }
  return d;
}

/// The gradients of a layer's inputs.
struct LayerGradient {
  const Tensor& x;
  const Tensor& w_x;
  const Tensor& w_h;
  const Tensor& b_x;
  const Tensor* b_h;
};

/// The gradients of a direction at all steps, in their order in x, and what the hidden weights
/// read.
struct SequenceGradient {
  SequenceGradient(const Layer& layer, bool candidate)
      : given(layer.steps * layer.batch, layer.gates * layer.units),
        hidden(given.rows(), given.cols()),
        states(given.rows(), layer.units),
        reset_states(candidate ? given.rows() : 0, layer.units) {}

  /// The gradients of w_x x + b_x, and of w_h h + b_h.
  Rows given;
  Rows hidden;
  Rows states;
  /// r * h, which the candidate of RnnCell::gru_reset_before reads instead.
  Rows reset_states;
};

/// The rows of w_h that read h itself.
std::int64_t plain_rows(const Layer& layer) {
  return (layer.gates - (layer.cell == RnnCell::gru_reset_before ? 1 : 0)) * layer.units;
}

SequenceGradient run_backward(const Layer& layer, std::int64_t direction, const Tensor& dy,
                              const Crew& crew) {
  std::vector<Step> steps = run_forward(layer, direction, crew);
  const auto w_h = layer.of(layer.w_h, direction);
  const bool reset_before = layer.cell == RnnCell::gru_reset_before;
  const std::int64_t plain = plain_rows(layer);
  SequenceGradient all(layer, reset_before);
  State after{.h = Rows::Zero(layer.batch, layer.units), .c = Rows::Zero(layer.batch, layer.units)};
  for (std::int64_t i = layer.steps - 1; i >= 0; --i) {
    const std::int64_t t = layer.step(direction, i);
    Step& step = steps[static_cast<std::size_t>(i)];
    State total = after;
    total.h += layer.at(dy, t).middleCols(direction * layer.units, layer.units);
    StepGradient d = gradient_of(layer, direction, step, total);
    constexpr std::int64_t kUnits = 32;
    crew.for_each((layer.units + kUnits - 1) / kUnits, [&](std::int64_t part, double*) {
      const std::int64_t begin = part * kUnits;
      const std::int64_t count = std::min(kUnits, layer.units - begin);
      d.before.h.middleCols(begin, count) +=
          d.hidden.leftCols(plain) * w_h.block(0, begin, plain, count);
    });
    for (std::int64_t n = 0; n < layer.batch; ++n) {
      if (layer.active(t, n)) {
        after.h.row(n) = d.before.h.row(n);
        after.c.row(n) = d.before.c.row(n);
      } else {
        d.given.row(n).setZero();
        d.hidden.row(n).setZero();
      }
    }
    const std::int64_t row = t * layer.batch;
    all.given.middleRows(row, layer.batch) = d.given;
    all.hidden.middleRows(row, layer.batch) = d.hidden;
    all.states.middleRows(row, layer.batch) = step.before.h;
    if (reset_before) {
      all.reset_states.middleRows(row, layer.batch) =
          layer.gate(step.gates, 1).array() * step.before.h.array();
    }
  }
  return all;
}

/// Writes the gradients of one direction; adds to that of x.
void write_gradients(const Layer& layer, std::int64_t direction, const SequenceGradient& all,
                     const LayerGradient& gradient, const Crew& crew) {
  const Matrix w_x = layer.of(layer.w_x, direction);
  const std::int64_t rows = all.given.rows();
  const std::int64_t inputs = w_x.cols();
  const std::int64_t plain = plain_rows(layer);
  multiply(crew, {.rows = rows,
                  .depth = all.given.cols(),
                  .columns = inputs,
                  .a = factor_of(all.given),
                  .b = factor_of(w_x),
                  .c = gradient.x.data,
                  .row_stride = inputs,
                  .add = direction > 0});
  multiply(crew, {.rows = all.given.cols(),
                  .depth = rows,
                  .columns = inputs,
                  .a = factor_of(all.given).transposed(),
                  .b = {layer.x.data, inputs, 1},
                  .c = layer.of(gradient.w_x, direction).data(),
                  .row_stride = inputs});
  Matrix dw_h = layer.of(gradient.w_h, direction);
  multiply(crew, {.rows = plain,
                  .depth = rows,
                  .columns = layer.units,
                  .a = factor_of(all.hidden).transposed(),
                  .b = factor_of(all.states),
                  .c = dw_h.data(),
                  .row_stride = layer.units});
  if (all.reset_states.rows() > 0) {
    Factor candidate = factor_of(all.hidden).transposed();
    candidate.data += plain * candidate.row_stride;
    multiply(crew, {.rows = layer.units,
                    .depth = rows,
                    .columns = layer.units,
                    .a = candidate,
                    .b = factor_of(all.reset_states),
                    .c = dw_h.data() + plain * layer.units,
                    .row_stride = layer.units});
  }
  layer.bias_of(gradient.b_x, direction) = all.given.colwise().sum();
  if (gradient.b_h != nullptr) {
    layer.bias_of(*gradient.b_h, direction) = all.hidden.colwise().sum();
  }
}

/// The scratch memory of all products of a layer; `x` is the position of x.
std::int64_t scratch_of(const Graph& graph, const Node& node, std::size_t x) {
  const Shape& input = graph.shape(node.inputs[x]);
  const Shape& weights = graph.shape(node.inputs[x + 1]);
  return product_scratch(std::max({input[2], weights[1] * weights[2], input[0] * input[1]}));
}

}  // namespace

Operation rnn(const Graph& graph, const Node& node) {
  const auto attributes = node.attributes.as<RnnAttributes>();
  return {
      .compute =
          [attributes](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
            const Layer layer(attributes, in);
            for (std::int64_t direction = 0; direction < layer.directions; ++direction) {
              const std::vector<Step> steps = run_forward(layer, direction, crew);
              for (std::int64_t i = 0; i < layer.steps; ++i) {
                const std::int64_t t = layer.step(direction, i);
                auto y = layer.at(out[0], t).middleCols(direction * layer.units, layer.units);
                y = steps[static_cast<std::size_t>(i)].after.h;
                for (std::int64_t n = 0; n < layer.batch; ++n) {
                  if (!layer.active(t, n)) {
                    y.row(n).setZero();
                  }
                }
              }
            }
            // The backward computes the steps again.
            out[1].array().setZero();
          },
      .scratch_elements = scratch_of(graph, node, 0)};
}

Operation rnn_backward(const Graph& graph, const Node& node) {
  const auto attributes = node.attributes.as<RnnAttributes>();
  return {
      .compute =
          [attributes](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
            const Layer layer(attributes, in.subspan(1));
            const LayerGradient gradient{.x = out[0],
                                         .w_x = out[1],
                                         .w_h = out[2],
                                         .b_x = out[3],
                                         .b_h = attributes.hidden_bias ? &out[4] : nullptr};
            for (std::int64_t direction = 0; direction < layer.directions; ++direction) {
              const SequenceGradient all = run_backward(layer, direction, in[0], crew);
              write_gradients(layer, direction, all, gradient, crew);
            }
          },
      .scratch_elements = scratch_of(graph, node, 1)};
}

}  // namespace bench::reference

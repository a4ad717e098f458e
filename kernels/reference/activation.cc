#include "models/ops/activation.h"

#include <cmath>

#include "kernels/reference/operations.h"
#include "models/base/errors.h"

namespace bench::reference {
namespace {

/// Written so that NaN stays NaN.
double clamp_to(double x, double low, double high) { return x <= low ? low : x > high ? high : x; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// `v` is the output if derivative_from_output, else the input.
double derivative_of(ActivationKind kind, double v) {
  switch (kind) {
    case ActivationKind::none:
      return 1;
    case ActivationKind::relu:
      return v > 0 ? 1 : 0;
    case ActivationKind::relu6:
      return v > 0 && v < 6 ? 1 : 0;
    case ActivationKind::sigmoid:
      return v * (1 - v);
    case ActivationKind::tanh:
      return 1 - v * v;
    case ActivationKind::hard_sigmoid:
      return v > 0 && v < 1 ? 1.0 / 6 : 0;
    case ActivationKind::silu: {
      const double s = sigmoid(v);
      return s * (1 + v * (1 - s));
    }
    case ActivationKind::hard_swish:
      return v <= -3 ? 0 : v >= 3 ? 1 : (2 * v + 3) / 6;
  }
  throw InternalError(fmt::format("unknown activation {}", name_of(kind)));
}

}  // namespace

double activate(ActivationKind kind, double x) {
  switch (kind) {
    case ActivationKind::none:
      return x;
    case ActivationKind::relu:
      return x <= 0 ? 0 : x;
    case ActivationKind::relu6:
      return clamp_to(x, 0, 6);
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::hard_sigmoid:
      return clamp_to(x + 3, 0, 6) / 6;
    case ActivationKind::silu:
      return x * sigmoid(x);
    case ActivationKind::hard_swish:
      return x * clamp_to(x + 3, 0, 6) / 6;
  }
  throw InternalError(fmt::format("unknown activation {}", name_of(kind)));
}

Operation activation(const Graph&, const Node& node) {
  const ActivationKind kind = node.attributes.as<ActivationAttributes>().kind;
  return {
      .compute = [kind](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
        crew.for_each_range(out[0].elements(), [&](std::int64_t begin, std::int64_t count) {
          out[0].array().segment(begin, count) =
              in[0].array().segment(begin, count).unaryExpr([kind](double x) {
                return activate(kind, x);
              });
        });
      }};
}

Operation activation_backward(const Graph&, const Node& node) {
  const ActivationKind kind = node.attributes.as<ActivationAttributes>().kind;
  return {
      .compute = [kind](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
        crew.for_each_range(out[0].elements(), [&](std::int64_t begin, std::int64_t count) {
          out[0].array().segment(begin, count) =
              in[0]
                  .array()
                  .segment(begin, count)
                  .binaryExpr(in[1].array().segment(begin, count),
                              [kind](double dy, double v) { return dy * derivative_of(kind, v); });
        });
      }};
}

}  // namespace bench::reference

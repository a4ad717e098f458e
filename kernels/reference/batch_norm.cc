#include "models/ops/concat_batch_norm.h"

#include <cmath>

#include "kernels/reference/operations.h"

namespace bench::reference {
namespace {

/// The sum over all elements of channel `c` of f(n, the channel's plane of image n).
template <class F>
double sum_over_images(const Shape& shape, F f) {
  double sum = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    sum += f(n);
  }
  return sum;
}

double elements_per_channel(const Shape& shape) {
  return static_cast<double>(shape[0] * shape[2] * shape[3]);
}

std::size_t at(int position) { return static_cast<std::size_t>(position); }

/// gamma of channel `c`, 1 if the node has no gamma.
double gamma_of(std::span<const Tensor> in, const BatchNormInputs& positions, std::int64_t c) {
  return positions.gamma < 0 ? 1 : in[at(positions.gamma)][c];
}

struct Statistics {
  double mean = 0;
  double variance = 0;
};

void normalise(std::span<const Tensor> in, const BatchNormInputs& positions, std::int64_t c,
               const Statistics& statistics, double epsilon, const Tensor& y) {
  const double scale = gamma_of(in, positions, c) / std::sqrt(statistics.variance + epsilon);
  const double beta = in[at(positions.beta)][c];
  for (std::int64_t n = 0; n < y.shape[0]; ++n) {
    y.plane(n, c) = (in[0].plane(n, c) - statistics.mean) * scale + beta;
  }
}

}  // namespace

Operation batch_norm(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<BatchNormAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew& crew) {
    const BatchNormInputs positions = batch_norm_inputs(attributes);
    const Tensor& x = in[0];
    const double count = elements_per_channel(x.shape);
    crew.for_each(x.shape[1], [&](std::int64_t c, double*) {
      const double mean =
          sum_over_images(x.shape, [&](std::int64_t n) { return x.plane(n, c).sum(); }) / count;
      const double variance =
          sum_over_images(x.shape,
                          [&](std::int64_t n) { return (x.plane(n, c) - mean).square().sum(); }) /
          count;
      normalise(in, positions, c, {.mean = mean, .variance = variance}, attributes.epsilon, out[0]);
      out[1][c] = mean;
      out[2][c] = variance;
    });
  }};
}

Operation batch_norm_inference(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<BatchNormAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew& crew) {
    const BatchNormInputs positions = batch_norm_inference_inputs(attributes);
    crew.for_each(in[0].shape[1], [&](std::int64_t c, double*) {
      normalise(in, positions, c,
                {.mean = in[at(positions.mean)][c], .variance = in[at(positions.variance)][c]},
                attributes.epsilon, out[0]);
    });
  }};
}

Operation concat_batch_norm(const Graph& graph, const Node& node) {
  Node single = node;
  single.attributes = node.attributes.as<ConcatBatchNormAttributes>().norm;
  return batch_norm_inference(graph, single);
}

/// Let m be the elements per channel and x^ = (x - mean) / sqrt(variance + epsilon). Then dbeta =
/// sum dy and dgamma = sum dy x^; dx = gamma / sqrt(variance + epsilon) * (dy - dbeta / m - x^
/// dgamma / m). Ioffe and Szegedy, arXiv:1502.03167, section 3.
Operation batch_norm_backward(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<BatchNormAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew& crew) {
    const BatchNormInputs positions = batch_norm_backward_inputs(attributes);
    const Tensor& dy = in[0];
    const Tensor& x = in[1];
    const double count = elements_per_channel(x.shape);
    crew.for_each(x.shape[1], [&](std::int64_t c, double*) {
      const double mean = in[at(positions.mean)][c];
      const double inverse_deviation =
          1 / std::sqrt(in[at(positions.variance)][c] + attributes.epsilon);
      const auto normalised = [&](std::int64_t n) {
        return (x.plane(n, c) - mean) * inverse_deviation;
      };
      const double dbeta =
          sum_over_images(x.shape, [&](std::int64_t n) { return dy.plane(n, c).sum(); });
      const double dgamma = sum_over_images(
          x.shape, [&](std::int64_t n) { return (dy.plane(n, c) * normalised(n)).sum(); });
      const double scale = gamma_of(in, positions, c) * inverse_deviation;
      for (std::int64_t n = 0; n < x.shape[0]; ++n) {
        out[0].plane(n, c) =
            scale * (dy.plane(n, c) - dbeta / count - normalised(n) * (dgamma / count));
      }
      out[1][c] = dbeta;
      if (attributes.scale) {
        out[2][c] = dgamma;
      }
    });
  }};
}

}  // namespace bench::reference

#include "kernels/reference/operations.h"
#include "models/base/philox.h"
#include "models/ops/dropout.h"
#include "models/ops/moving_average.h"

namespace bench::reference {
namespace {

/// The same elements under another shape or in another type.
Operation same_elements() {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].array() = in[0].array();
  }};
}

}  // namespace

Operation add(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
    crew.for_each_range(out[0].elements(), [&](std::int64_t begin, std::int64_t count) {
      out[0].array().segment(begin, count) =
          in[0].array().segment(begin, count) + in[1].array().segment(begin, count);
    });
  }};
}

Operation multiply(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].array() = in[0].array() * in[1].array();
  }};
}

Operation bias_add(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
    for_each_plane(in[0].shape, crew, [&](std::int64_t n, std::int64_t c) {
      out[0].plane(n, c) = in[0].plane(n, c) + in[1][c];
    });
  }};
}

Operation bias_backward(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
    const Shape& shape = in[0].shape;
    out[0].array().setZero();
    crew.for_each(shape[1], [&](std::int64_t c, double*) {
      for (std::int64_t n = 0; n < shape[0]; ++n) {
        out[0][c] += in[0].plane(n, c).sum();
      }
    });
  }};
}

Operation moving_average(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<MovingAverageAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew&) {
    for (std::size_t i = 0; i < attributes.pairs.size(); ++i) {
      const auto& [decay, factor] = attributes.pairs[i];
      out[i].array() = decay * in[2 * i].array() + (1 - decay) * factor * in[2 * i + 1].array();
    }
  }};
}

Operation dropout(const Graph&, const Node& node) {
  const auto attributes = node.attributes.as<DropoutAttributes>();
  return {.compute = [attributes](std::span<const Tensor> in, std::span<const Tensor> out,
                                  const Crew&) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
    if (in[1][0] < 0) {
      out[0].array() = in[0].array();
      return;
    }
    const auto step = static_cast<std::uint32_t>(in[1][0]);
    for (std::int64_t e = 0; e < in[0].elements(); ++e) {
      const std::uint64_t element = attributes.first_element + static_cast<std::uint64_t>(e);
      const std::uint64_t block = element / 4;
      const auto words = philox4x32({low(block), high(block), low(attributes.stream), step},
                                    {low(attributes.seed), high(attributes.stream)});
      const std::uint32_t word = words[element % 4];
      const double uniform = static_cast<double>(word >> 8U) * 0x1.0p-24;
      out[0][e] = uniform < attributes.keep ? in[0][e] / attributes.keep : 0;
    }
  }};
}

Operation dropout_backward(const Graph& graph, const Node& node) { return dropout(graph, node); }

Operation cast(const Graph&, const Node&) { return same_elements(); }
Operation flatten(const Graph&, const Node&) { return same_elements(); }
Operation unflatten(const Graph&, const Node&) { return same_elements(); }
Operation reshape(const Graph&, const Node&) { return same_elements(); }

Operation spatial_mean(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    const Shape& shape = in[0].shape;
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      for (std::int64_t c = 0; c < shape[1]; ++c) {
        out[0][n * shape[1] + c] = in[0].plane(n, c).mean();
      }
    }
  }};
}

Operation spatial_mean_backward(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    const Shape& shape = out[0].shape;
    const auto area = static_cast<double>(shape[2] * shape[3]);
    for (std::int64_t n = 0; n < shape[0]; ++n) {
      for (std::int64_t c = 0; c < shape[1]; ++c) {
        out[0].plane(n, c).setConstant(in[0][n * shape[1] + c] / area);
      }
    }
  }};
}

}  // namespace bench::reference

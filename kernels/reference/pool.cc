#include "models/ops/pool.h"

#include <algorithm>
#include <limits>

#include "kernels/reference/operations.h"
#include "kernels/reference/window.h"
#include "models/base/errors.h"

namespace bench::reference {
/// `indices` has the output's shape and holds flat positions in the input's plane.
Operation max_pool(const Graph& graph, const Node& node) {
  const Window window = node.attributes.as<PoolAttributes>().window;
  const Shape input = graph.shape(node.inputs[0]);
  const Shape output = graph.shape(node.outputs[0]);
  return {.compute = [window, input, output](std::span<const Tensor> in,
                                             std::span<const Tensor> out, const Crew& crew) {
    for_each_plane(output, crew, [&](std::int64_t n, std::int64_t c) {
      const Array x = in[0].plane(n, c);
      Array y = out[0].plane(n, c);
      Array indices = out[1].plane(n, c);
      y.setConstant(-std::numeric_limits<double>::infinity());
      indices.setConstant(-1);
      slide(window, plane_of(input), plane_of(output),
            [&](std::int64_t o, std::int64_t, std::int64_t i) {
              if (i >= 0 && (indices[o] < 0 || x[i] > y[o])) {
                y[o] = x[i];
                indices[o] = static_cast<double>(i);
              }
            });
    });
  }};
}

Operation max_pool_backward(const Graph& graph, const Node& node) {
  const Shape output = graph.shape(node.inputs[0]);
  return {.compute = [output](std::span<const Tensor> in, std::span<const Tensor> out,
                              const Crew& crew) {
    out[0].array().setZero();
    for_each_plane(output, crew, [&](std::int64_t n, std::int64_t c) {
      const Array dy = in[0].plane(n, c);
      const Array indices = in[1].plane(n, c);
      Array dx = out[0].plane(n, c);
      for (std::int64_t o = 0; o < dy.size(); ++o) {
        const auto winner = static_cast<std::int64_t>(indices[o]);
        // A window with only padding has no winner.
        if (winner >= 0) {
          dx[winner] += dy[o];
        }
      }
    });
  }};
}

namespace {

/// The number of input elements that each window covers.
std::vector<double> covered(const Window& window, const Plane& input, const Plane& output) {
  std::vector<double> counts(static_cast<std::size_t>(output.size()), 0);
  slide(window, input, output, [&](std::int64_t o, std::int64_t, std::int64_t i) {
    counts[static_cast<std::size_t>(o)] += i >= 0 ? 1 : 0;
  });
  check(std::find(counts.begin(), counts.end(), 0.0) == counts.end(),
        "avg_pool: a window covers only padding");
  return counts;
}

}  // namespace

Operation avg_pool(const Graph& graph, const Node& node) {
  const Window window = node.attributes.as<PoolAttributes>().window;
  const Shape input = graph.shape(node.inputs[0]);
  const Shape output = graph.shape(node.outputs[0]);
  return {
      .compute = [window, input, output,
                  counts = covered(window, plane_of(input), plane_of(output))](
                     std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
        out[0].array().setZero();
        for_each_plane(output, crew, [&](std::int64_t n, std::int64_t c) {
          const Array x = in[0].plane(n, c);
          Array y = out[0].plane(n, c);
          slide(window, plane_of(input), plane_of(output),
                [&](std::int64_t o, std::int64_t, std::int64_t i) { y[o] += i >= 0 ? x[i] : 0; });
          y /= Eigen::Map<const Eigen::ArrayXd>(counts.data(), y.size());
        });
      }};
}

Operation avg_pool_backward(const Graph& graph, const Node& node) {
  const Window window = node.attributes.as<PoolAttributes>().window;
  const Shape input = graph.shape(node.outputs[0]);
  const Shape output = graph.shape(node.inputs[0]);
  return {.compute =
              [window, input, output, counts = covered(window, plane_of(input), plane_of(output))](
                  std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
                out[0].array().setZero();
                for_each_plane(output, crew, [&](std::int64_t n, std::int64_t c) {
                  const Array dy = in[0].plane(n, c);
                  Array dx = out[0].plane(n, c);
                  slide(window, plane_of(input), plane_of(output),
                        [&](std::int64_t o, std::int64_t, std::int64_t i) {
                          if (i >= 0) {
                            dx[i] += dy[o] / counts[static_cast<std::size_t>(o)];
                          }
                        });
                });
              }};
}

}  // namespace bench::reference

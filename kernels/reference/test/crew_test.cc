#include "kernels/reference/crew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/reference/operations.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/base/threads.h"
#include "models/ops/conv2d.h"

namespace bench::reference {
namespace {

/// Threads that are started for each piece of work.
HostThreads threads(int count) {
  return {.count = count, .run = [count](const std::function<void(int)>& part) {
            std::vector<std::jthread> others;
            for (int i = 1; i < count; ++i) {
              others.push_back(start_thread([&part, i] { part(i); }));
            }
            part(0);
          }};
}

TEST(Crew, VisitsEverythingOnceOnAnyNumberOfThreads) {
  for (const int count : {1, 2, 5}) {
    const HostThreads team = threads(count);
    std::vector<int> visits(1000);
    const Crew crew(team, nullptr, 0);
    crew.for_each(1000, [&](std::int64_t i, double*) { ++visits[static_cast<std::size_t>(i)]; });
    EXPECT_THAT(visits, testing::Each(1));
    std::vector<int> elements(100'000);
    crew.for_each_range(100'000, [&](std::int64_t begin, std::int64_t length) {
      for (std::int64_t i = begin; i < begin + length; ++i) {
        ++elements[static_cast<std::size_t>(i)];
      }
    });
    EXPECT_THAT(elements, testing::Each(1));
  }
}

TEST(Crew, ThrowsWhatAPartThrew) {
  for (const int count : {1, 3}) {
    const HostThreads team = threads(count);
    const Crew crew(team, nullptr, 0);
    EXPECT_THROW(crew.for_each(100, [](std::int64_t i, double*) { check(i != 57, "57"); }),
                 InternalError);
  }
}

std::vector<double> drawn(std::int64_t count, std::uint64_t stream) {
  RandomStream random(5, stream);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) {
    value = static_cast<double>(random.normal());
  }
  return values;
}

std::vector<double> computed_by(int count, const Graph& graph, const Node& node) {
  std::vector<std::vector<double>> memory;
  const auto tensor = [&](ValueId id, std::uint64_t stream) {
    memory.push_back(drawn(graph.shape(id).elements(), stream));
    return Tensor{.shape = graph.shape(id), .data = memory.back().data()};
  };
  std::vector<Tensor> in;
  for (const ValueId id : node.inputs) {
    in.push_back(tensor(id, in.size()));
  }
  const std::vector<Tensor> out{tensor(node.outputs[0], 9)};
  const Operation operation = operation_of(graph, node);
  std::vector<double> scratch(static_cast<std::size_t>(operation.scratch_elements * count));
  const HostThreads team = threads(count);
  operation.compute(in, out, Crew(team, scratch.data(), operation.scratch_elements));
  return memory.back();
}

TEST(ReferenceConvolution, IsTheSameToTheLastBitOnAnyNumberOfThreads) {
  const Shape x{2, 20, 30, 31};
  const Shape w{10, 20, 3, 3};
  const Window window{
      .kernel = {3, 3}, .stride = {2, 2}, .pad_before = {0, 1}, .pad_after = {1, 1}};
  Graph graph;
  const auto input = [&](const char* name, const Shape& shape) {
    return graph.add_input(name, {.dtype = DType::f64, .shape = shape});
  };
  const ValueId images = input("x", x);
  const ValueId weights = input("w", w);
  const ValueId y =
      graph.add_node(kConv2d, "conv", Conv2dAttributes{.window = window}, {images, weights})[0];
  const ValueId dy = input("dy", graph.shape(y));
  graph.add_node(kConv2dBackwardData, "data",
                 Conv2dBackwardDataAttributes{.window = window, .input = x}, {dy, weights});
  graph.add_node(kConv2dBackwardWeights, "weights",
                 Conv2dBackwardWeightsAttributes{.window = window, .weights = w}, {dy, images});
  for (const Node& node : graph.nodes()) {
    const std::vector<double> alone = computed_by(1, graph, node);
    EXPECT_EQ(computed_by(2, graph, node), alone) << node.name;
    EXPECT_EQ(computed_by(5, graph, node), alone) << node.name;
  }
}

/// By the definition: calls add(y, x, w) with the offsets of each product.
template <class Add>
void for_each_product(const Shape& x, const Shape& w, const Shape& y, std::int64_t groups,
                      std::int64_t pad, const Add& add) {
  const auto at = [](const Shape& shape, std::int64_t a, std::int64_t b, std::int64_t c,
                     std::int64_t d) {
    return static_cast<std::size_t>(((a * shape[1] + b) * shape[2] + c) * shape[3] + d);
  };
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const std::int64_t column = i % y[3];
    const std::int64_t row = i / y[3] % y[2];
    const std::int64_t filter = i / (y[3] * y[2]) % y[1];
    const std::int64_t image = i / (y[3] * y[2] * y[1]);
    const std::int64_t first = filter / (y[1] / groups) * w[1];
    for (std::int64_t j = 0; j < w[1] * w[2] * w[3]; ++j) {
      const std::int64_t c = j / (w[2] * w[3]);
      const std::int64_t v = j / w[3] % w[2];
      const std::int64_t u = j % w[3];
      const std::int64_t h = row + v - pad;
      const std::int64_t k = column + u - pad;
      if (h >= 0 && h < x[2] && k >= 0 && k < x[3]) {
        add(static_cast<std::size_t>(i), at(x, image, first + c, h, k), at(w, filter, c, v, u));
      }
    }
  }
}

/// Planes so large that the patches of one are gathered in several ranges of rows.
void expect_the_definition(const Shape& x, const Shape& w, std::int64_t groups, std::int64_t pad) {
  const Window window{.kernel = {w[2], w[3]}, .pad_before = {pad, pad}, .pad_after = {pad, pad}};
  Graph graph;
  const auto input = [&](const char* name, const Shape& shape) {
    return graph.add_input(name, {.dtype = DType::f64, .shape = shape});
  };
  const ValueId images = input("x", x);
  const ValueId weights = input("w", w);
  const ValueId output = graph.add_node(
      kConv2d, "conv", Conv2dAttributes{.window = window, .groups = groups}, {images, weights})[0];
  const Shape y = graph.shape(output);
  const ValueId dy = input("dy", y);
  graph.add_node(kConv2dBackwardData, "data",
                 Conv2dBackwardDataAttributes{.window = window, .groups = groups, .input = x},
                 {dy, weights});
  graph.add_node(kConv2dBackwardWeights, "weights",
                 Conv2dBackwardWeightsAttributes{.window = window, .groups = groups, .weights = w},
                 {dy, images});
  const auto zeros = [](const Shape& shape) {
    return std::vector<double>(static_cast<std::size_t>(shape.elements()));
  };
  // The first and the second input, drawn as computed_by() does.
  const auto first = [](const Shape& shape) { return drawn(shape.elements(), 0); };
  const auto second = [](const Shape& shape) { return drawn(shape.elements(), 1); };
  std::vector<double> forward = zeros(y);
  std::vector<double> data = zeros(x);
  std::vector<double> of_weights = zeros(w);
  const auto xs = first(x);
  const auto ws = second(w);
  const auto dys = first(y);
  const auto xs_second = second(x);
  for_each_product(x, w, y, groups, pad, [&](std::size_t at_y, std::size_t at_x, std::size_t at_w) {
    forward[at_y] += xs[at_x] * ws[at_w];
    data[at_x] += dys[at_y] * ws[at_w];
    of_weights[at_w] += dys[at_y] * xs_second[at_x];
  });
  EXPECT_THAT(computed_by(2, graph, graph.nodes()[0]),
              testing::Pointwise(testing::DoubleNear(1e-10), forward));
  EXPECT_THAT(computed_by(2, graph, graph.nodes()[1]),
              testing::Pointwise(testing::DoubleNear(1e-10), data));
  EXPECT_THAT(computed_by(2, graph, graph.nodes()[2]),
              testing::Pointwise(testing::DoubleNear(1e-10), of_weights));
}

TEST(ReferenceConvolution, FollowsTheDefinitionForLargePlanes) {
  expect_the_definition({2, 4, 70, 67}, {6, 2, 3, 3}, 2, 1);
  expect_the_definition({1, 3, 90, 80}, {4, 3, 1, 1}, 1, 0);
}

}  // namespace
}  // namespace bench::reference

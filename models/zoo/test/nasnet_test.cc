#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/ir/op.h"
#include "models/ops/concat.h"
#include "models/ops/drop_path.h"
#include "models/ops/dropout.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

Graph network(std::string_view name, std::string_view dataset, std::int64_t classes) {
  return build_network(*find_model(name, dataset), {.batch = 1, .num_classes = classes});
}

std::int64_t trainable_scalars(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Variable& variable : graph.variables()) {
    sum += variable.trainable() ? graph.shape(variable.value).elements() : 0;
  }
  return sum;
}

/// The output shapes of the cells. A cell ends with a concatenation of four or more parts; a halved
/// state is one of two parts.
std::vector<Shape> cells(const Graph& graph) {
  std::vector<Shape> shapes;
  for (const Node& node : graph.nodes()) {
    if (node.op == &kConcat && node.inputs.size() > 2) {
      shapes.push_back(graph.shape(node.outputs[0]));
    }
  }
  return shapes;
}

/// `count` times the same, N = 1.
void append(std::vector<Shape>& shapes, int count, std::int64_t channels, std::int64_t size) {
  shapes.insert(shapes.end(), static_cast<std::size_t>(count), Shape{1, channels, size, size});
}

TEST(NasNet, HasTheKnownNumberOfParametersWithAThousandClasses) {
  EXPECT_EQ(trainable_scalars(network("nasnet", "imagenet", 1000)), 5289978);
  EXPECT_EQ(trainable_scalars(network("nasnetlarge", "imagenet", 1000)), 88753150);
}

TEST(NasNet, HasThePublishedEndpoints) {
  std::vector<Shape> mobile;
  append(mobile, 1, 44, 56);
  append(mobile, 1, 88, 28);
  append(mobile, 4, 264, 28);
  append(mobile, 1, 352, 14);
  append(mobile, 4, 528, 14);
  append(mobile, 1, 704, 7);
  append(mobile, 4, 1056, 7);
  EXPECT_EQ(cells(network("nasnet", "imagenet", 1001)), mobile);

  std::vector<Shape> large;
  append(large, 1, 168, 83);
  append(large, 1, 336, 42);
  append(large, 6, 1008, 42);
  append(large, 1, 1344, 21);
  append(large, 6, 2016, 21);
  append(large, 1, 2688, 11);
  append(large, 6, 4032, 11);
  EXPECT_EQ(cells(network("nasnetlarge", "imagenet", 1001)), large);

  std::vector<Shape> cifar;
  append(cifar, 6, 192, 32);
  append(cifar, 1, 256, 16);
  append(cifar, 6, 384, 16);
  append(cifar, 1, 512, 8);
  append(cifar, 6, 768, 8);
  EXPECT_EQ(cells(network("nasnet", "cifar10", 11)), cifar);
}

TEST(NasNet, DropsMorePathsInDeeperCells) {
  struct Expected {
    std::string_view name;
    std::string_view dataset;
    double keep = 1;
    int cells = 0;
    std::int64_t ramp_steps = 0;
  };
  for (const Expected& expected : {Expected{"nasnetlarge", "imagenet", 0.7, 22, 250000},
                                   Expected{"nasnet", "cifar10", 0.6, 20, 937500}}) {
    const Graph graph = network(expected.name, expected.dataset, 11);
    std::vector<double> keeps;
    for (const Node& node : graph.nodes()) {
      if (node.op == &kDropPath) {
        const auto& attributes = node.attributes.as<DropPathAttributes>();
        EXPECT_EQ(attributes.ramp_steps, expected.ramp_steps);
        if (keeps.empty() || std::abs(keeps.back() - attributes.keep) > 1e-9) {
          keeps.push_back(attributes.keep);
        }
      }
    }
    ASSERT_EQ(keeps.size(), static_cast<std::size_t>(expected.cells)) << expected.name;
    for (int i = 0; i < expected.cells; ++i) {
      EXPECT_NEAR(keeps.at(static_cast<std::size_t>(i)),
                  1 - (i + 1.0) / expected.cells * (1 - expected.keep), 1e-12)
          << expected.name << ", cell " << i;
    }
  }
}

TEST(NasNet, DropsFeaturesButNoPathsInMobileSize) {
  const Graph graph = network("nasnet", "imagenet", 1001);
  int dropouts = 0;
  for (const Node& node : graph.nodes()) {
    EXPECT_NE(node.op, &kDropPath);
    if (node.op == &kDropout) {
      ++dropouts;
      EXPECT_EQ(node.attributes.as<DropoutAttributes>().keep, 0.5);
    }
  }
  EXPECT_EQ(dropouts, 1);
}

}  // namespace
}  // namespace bench

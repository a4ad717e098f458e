#include "bench/verify/verdict.h"

#include <gtest/gtest.h>

#include <limits>

#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

bool passes(const Distances& found, DType dtype, const Distance& moved = {},
            std::size_t elements = 100) {
  const CheckedKernel judged = judge(found, moved, dtype, elements);
  return judged.deviation <= judged.tolerance;
}

Distances off_by(double difference, double result) {
  return {.difference = {difference, difference / 10}, .result = {result, result / 10}};
}

TEST(Judge, AllowsRoundingToTheType) {
  EXPECT_TRUE(passes(off_by(0.9e-3, 1), DType::f32));
  EXPECT_FALSE(passes(off_by(1.1e-3, 1), DType::f32));
  EXPECT_TRUE(passes(off_by(5e-3, 1), DType::bf16));
  EXPECT_FALSE(passes(off_by(5e-3, 1), DType::f16));
}

TEST(Judge, AllowsMoreWhereTermsCancel) {
  EXPECT_FALSE(passes(off_by(3, 1), DType::f32));
  EXPECT_TRUE(passes(off_by(3, 1), DType::f32, {.norm = 0.1, .largest = 0.1}));
}

TEST(MovedShare, AllowsOneRoundingBetweenPartsAndManyInSums) {
  // For a result that moves with its inputs and consists only of cancelling terms.
  const auto allowed = [](double share) {
    double most = 0;
    for (double difference = 1e-6;
         passes(off_by(1e-3 + difference, 1), DType::f32, {.norm = share, .largest = share});
         difference *= 1.01) {
      most = difference;
    }
    return most;
  };
  EXPECT_NEAR(allowed(moved_share_between(DType::f16)), 0x1.0p-11, 0x1.0p-16);
  EXPECT_NEAR(allowed(moved_share_between(DType::bf16)), 0x1.0p-8, 0x1.0p-13);
  EXPECT_EQ(moved_share_between(DType::f32), moved_share(DType::f32));
  EXPECT_LT(allowed(moved_share(DType::f32)), allowed(moved_share_between(DType::f16)) / 8);
}

std::vector<double> shares(const Graph& graph, std::size_t node) {
  std::vector<double> found;
  for (const Move& move : moves_of(graph, graph.nodes()[node], DType::f32, false)) {
    EXPECT_EQ(move.step, 0);
    found.push_back(move.share);
  }
  return found;
}

TEST(Moves, AreLargerOnlyForTheInputsOfAPrologue) {
  Graph graph;
  const TensorType x{.dtype = DType::f16, .shape = {2, 4, 3, 3}};
  const TensorType filter{.dtype = DType::f16, .shape = {4, 4, 1, 1}};
  std::vector<ValueId> forward{graph.add_input("x", x), graph.add_input("filter", filter),
                               graph.add_input("residual", x)};
  std::vector<ValueId> gradient{graph.add_input("dy", x), forward[0]};
  for (const char* name : {"gamma", "beta", "mean", "variance"}) {
    forward.push_back(graph.add_input(name, {.shape = {4}}));
    gradient.push_back(forward.back());
  }
  Conv2dAttributes attributes{.epilogue = {.residual = true}};
  graph.add_node(kConv2d, "plain", attributes, {forward[0], forward[1], forward[2]});
  attributes.prologue = BatchNormAttributes{};
  graph.add_node(kConv2d, "forward", attributes, forward);
  graph.add_node(
      kConv2dBackwardWeights, "gradient",
      Conv2dBackwardWeightsAttributes{.weights = filter.shape, .prologue = BatchNormAttributes{}},
      gradient);
  const double few = moved_share(DType::f32);
  const double between = moved_share_between(DType::f16);
  EXPECT_EQ(shares(graph, 0), (std::vector{few, few, few}));
  EXPECT_EQ(shares(graph, 1), (std::vector{between, few, few, between, between, between, between}));
  EXPECT_EQ(shares(graph, 2), (std::vector{few, between, between, between, between, between}));
}

TEST(Moves, AreLargerForTheGradientsOfAResidual) {
  Graph graph;
  const TensorType x{.dtype = DType::f16, .shape = {2, 4, 3, 3}};
  std::vector<ValueId> inputs{graph.add_input("dy", x), graph.add_input("x", x)};
  for (const char* name : {"gamma", "mean", "variance"}) {
    inputs.push_back(graph.add_input(name, {.shape = {4}}));
  }
  graph.add_node(kBatchNormBackward, "plain", BatchNormAttributes{}, inputs);
  inputs.push_back(graph.add_input("second dy", x));
  graph.add_node(kBatchNormBackward, "residual",
                 BatchNormAttributes{.epilogue = {.residual = true}, .two_gradients = true},
                 inputs);
  const double few = moved_share(DType::f32);
  const double between = moved_share_between(DType::f16);
  EXPECT_EQ(shares(graph, 0), (std::vector(5, few)));
  EXPECT_EQ(shares(graph, 1), (std::vector{between, few, few, few, few, between}));
}

TEST(Moves, AreRoundingsIfCopiesDiffer) {
  Graph graph;
  graph.add_node(kBiasBackward, "half", {},
                 {graph.add_input("a", {.dtype = DType::f16, .shape = {2, 4, 3, 3}})});
  graph.add_node(kBiasBackward, "single", {}, {graph.add_input("b", {.shape = {2, 4, 3, 3}})});
  constexpr double kRoundings = 64;
  EXPECT_EQ(moves_of(graph, graph.nodes()[0], DType::f32, true),
            (std::vector<Move>{{.share = 0x1p-11 / kRoundings, .step = 0x1p-24 / kRoundings}}));
  EXPECT_EQ(moves_of(graph, graph.nodes()[1], DType::f32, true),
            (std::vector<Move>{{.share = moved_share(DType::f32)}}));
}

TEST(Judge, SeesOneElementThatIsFarOff) {
  const Distance whole{.norm = 100, .largest = 1};
  EXPECT_TRUE(passes({.difference = {5e-3, 5e-3}, .result = whole}, DType::f32));
  EXPECT_FALSE(passes({.difference = {5e-2, 5e-2}, .result = whole}, DType::f32));
}

TEST(Judge, AllowsZerosOnlyIfRoundingExplainsThem) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    EXPECT_TRUE(passes(off_by(0, 0), dtype)) << name_of(dtype);
    EXPECT_FALSE(passes(off_by(1, 0), dtype)) << name_of(dtype);
    EXPECT_FALSE(passes(off_by(1, 0), dtype, {.norm = 1e-3, .largest = 1e-3})) << name_of(dtype);
    EXPECT_FALSE(passes(off_by(1, 1e-320), dtype)) << name_of(dtype);
  }
  EXPECT_TRUE(passes(off_by(1e-7, 0), DType::f16));
  EXPECT_TRUE(passes(off_by(1e-3, 0), DType::f32, {.norm = 1e-3, .largest = 1e-3}));
}

TEST(Judge, RefusesNonFiniteResults) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(passes({.difference = {kInfinity, kInfinity}, .result = {1, 1}}, DType::f16));
  EXPECT_FALSE(passes({.difference = {0, 0}, .result = {kInfinity, kInfinity}}, DType::f16));
}

}  // namespace
}  // namespace bench

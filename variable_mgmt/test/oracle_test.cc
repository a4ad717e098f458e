// The scalar model of tf_cnn_benchmarks' own tests: images x, loss mean(x) * A * B with A = 1 and
// B = 2 at first, weight decay 2^-4, learning rate 2^-4, batches of four of the images -1, 0,
// ... 14. The expected losses are float64 evaluations of that model.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "variable_mgmt/strategy.h"

namespace bench {
namespace {

constexpr double kDecay = 1.0 / 16;
constexpr double kRate = 1.0 / 16;
constexpr std::int64_t kBatch = 4;

/// The mean over the batch is made by a convolution over images that lie along W.
Graph scalar_model() {
  Graph graph;
  const ValueId images =
      graph.add_input("images", {.dtype = DType::f32, .shape = {1, 1, 1, kBatch}});
  ValueId x = images;
  std::vector<ValueId> variables;
  for (const char* name : {"a", "b"}) {
    const double first = std::string(name) == "a" ? 1 : 2;
    variables.push_back(graph.add_variable(name, {.dtype = DType::f32, .shape = {1, 1, 1, 1}},
                                           VariableRole::weight,
                                           {.kind = Initializer::Kind::constant, .mean = first}));
    x = graph.add_node(kConv2d, name, Conv2dAttributes{}, {x, variables.back()})[0];
  }
  const ValueId mean = graph.add_node(kSpatialMean, "mean", {}, {x})[0];
  graph.set_output("loss", mean);
  graph.set_output("l2_loss",
                   graph.add_node(kL2Loss, "l2_loss", L2LossAttributes{kDecay}, variables)[0]);
  return add_backward(graph, "loss");
}

struct OracleCase {
  const char* name;
  OptimizerRule rule;
  std::array<double, 4> total_losses;
};

constexpr std::array kCases{
    OracleCase{"sgd", SgdRule{}, {1.15625, 8.38563776, 5.53226187, -9.58548351}},
    OracleCase{"momentum", MomentumRule{}, {1.15625, 7.71236472, -2.52466576, -36.7086006}},
    OracleCase{"rmsprop", RmspropRule{}, {1.15625, 8.60833416, 11.3735971, 7.01656766}},
    OracleCase{"adam", AdamRule{}, {1.15625, 8.31860382, 14.3401158, 19.1731446}}};

void expect_oracle(Backend& backend, const OracleCase& row) {
  const Graph graph = scalar_model();
  Tower tower(graph, backend, {}, initial_values(graph, 1));
  const std::array<Tower*, 1> towers{&tower};
  const auto strategy =
      find_strategy("parameter_server").make(towers, {.rule = row.rule, .weight_decay = kDecay});
  std::array<float, 16> data{};
  std::iota(data.begin(), data.end(), -1.0F);
  for (std::size_t step = 0; step < 4; ++step) {
    tower.enqueue(data.data() + step * kBatch, nullptr,
                  {.learning_rate = kRate, .number = static_cast<std::int32_t>(step)});
    strategy->update();
    tower.wait();
    const double total = static_cast<double>(tower.executor().read_scalar("loss")) +
                         static_cast<double>(tower.executor().read_scalar("l2_loss"));
    EXPECT_NEAR(total, row.total_losses.at(step), 1e-5 * std::abs(row.total_losses.at(step)))
        << row.name << ", step " << step + 1;
  }
}

TEST(ScalarOracle, HoldsForTheReference) {
  const auto backend = make_reference_backend();
  for (const OracleCase& row : kCases) {
    expect_oracle(*backend, row);
  }
}

TEST(ScalarOracle, HoldsForOnednn) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
  for (const OracleCase& row : kCases) {
    expect_oracle(*backend, row);
  }
}

}  // namespace
}  // namespace bench

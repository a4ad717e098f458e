// The scalar model of tf_cnn_benchmarks' own tests: images x, loss mean(x) * A * B with A = 1 and
// B = 2 at first, weight decay 2^-4, learning rate 2^-4, batches of four of the images -1, 0,
// ... 14. The expected losses are float64 evaluations of that model.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "variable_mgmt/towers.h"

namespace bench {
namespace {

constexpr double kDecay = 1.0 / 16;
constexpr double kRate = 1.0 / 16;
constexpr std::int64_t kBatch = 4;

/// The mean over the batch is made by a convolution over images that lie along W.
Graph scalar_model(std::int64_t batch) {
  Graph graph;
  const ValueId images =
      graph.add_input("images", {.dtype = DType::f32, .shape = {1, 1, 1, batch}});
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
  const char* strategy = "parameter_server";
  int towers = 1;
};

constexpr std::array<double, 4> kSgd{1.15625, 8.38563776, 5.53226187, -9.58548351};
constexpr std::array<double, 4> kMomentum{1.15625, 7.71236472, -2.52466576, -36.7086006};
constexpr std::array<double, 4> kRmsprop{1.15625, 8.60833416, 11.3735971, 7.01656766};
constexpr std::array<double, 4> kAdam{1.15625, 8.31860382, 14.3401158, 19.1731446};
constexpr std::array<double, 4> kSgdOfSums{1.15625, 7.63874245, -2.59694984, -35.2715042};

// Two devices take two images each: their mean is that of one device.
constexpr std::array kCases{
    OracleCase{"sgd", SgdRule{}, kSgd},
    OracleCase{"momentum", MomentumRule{}, kMomentum},
    OracleCase{"rmsprop", RmspropRule{}, kRmsprop},
    OracleCase{"adam", AdamRule{}, kAdam},
    OracleCase{"sgd, two devices", SgdRule{}, kSgd, "parameter_server", 2},
    OracleCase{"momentum, two devices", MomentumRule{}, kMomentum, "parameter_server", 2},
    OracleCase{"rmsprop, two devices", RmspropRule{}, kRmsprop, "parameter_server", 2},
    OracleCase{"adam, two devices", AdamRule{}, kAdam, "parameter_server", 2},
    OracleCase{"sgd, sums of two devices", SgdRule{}, kSgdOfSums, "replicated", 2}};

using MakeBackend = std::unique_ptr<Backend> (*)();

void expect_oracle(MakeBackend make_backend, const OracleCase& row) {
  const std::int64_t batch = kBatch / row.towers;
  const bool summed = find_strategy(row.strategy).reduction == GradientReduction::sum;
  TowerThreads threads(row.towers);
  std::vector<std::unique_ptr<Backend>> backends(static_cast<std::size_t>(row.towers));
  const Graph graph = scalar_model(batch);
  const InitialValues values = initial_values(graph, 1);
  Towers towers(threads, [&](int number, TowerMeeting& meeting) {
    std::unique_ptr<Backend>& backend = backends[static_cast<std::size_t>(number)];
    backend = make_backend();
    TowerWithUpdate made{
        .tower = std::make_unique<Tower>(graph, *backend, ExecutorOptions{}, values),
        .update = nullptr};
    const double decay = summed ? kDecay * row.towers : kDecay;
    made.update = find_strategy(row.strategy)
                      .make({.tower = *made.tower, .number = number, .meeting = meeting},
                            {.optimizer = {.rule = row.rule, .weight_decay = decay}});
    return made;
  });
  std::array<float, 16> data{};
  std::iota(data.begin(), data.end(), -1.0F);
  for (std::size_t step = 0; step < 4; ++step) {
    std::vector<double> totals(static_cast<std::size_t>(row.towers));
    towers.run([&](int number) {
      Tower& tower = towers[number];
      tower.enqueue(data.data() + step * kBatch + number * batch, nullptr,
                    {.learning_rate = kRate,
                     .gradient_scale = summed ? 1.0 : 1.0 / row.towers,
                     .number = static_cast<std::int32_t>(step)});
      towers.update(number)->update();
      tower.wait();
      totals[static_cast<std::size_t>(number)] =
          tower.executor().read_scalar("loss") + tower.executor().read_scalar("l2_loss");
    });
    const double total = std::accumulate(totals.begin(), totals.end(), 0.0) / row.towers;
    EXPECT_NEAR(total, row.total_losses.at(step), 1e-5 * std::abs(row.total_losses.at(step)))
        << row.name << ", step " << step + 1;
  }
}

TEST(ScalarOracle, HoldsForTheReference) {
  for (const OracleCase& row : kCases) {
    expect_oracle(make_reference_backend, row);
  }
}

TEST(ScalarOracle, HoldsForOnednn) {
  for (const OracleCase& row : kCases) {
    expect_oracle(
        [] { return make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}}); }, row);
  }
}

}  // namespace
}  // namespace bench

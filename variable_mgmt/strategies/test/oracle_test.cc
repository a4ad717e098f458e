// The scalar model of tf_cnn_benchmarks' tests, with every way to share variables.
// Images are x, and the loss is mean(x) * A * B, initially with A = 1 and B = 2. Weight decay and
// learning rate are 2^-4. Batches are four of the images -1, 0, ... 14. The expected losses are
// float64 evaluations of that model.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "models/passes/mixed_precision.h"
#include "variable_mgmt/servers/server_link.h"
#include "variable_mgmt/servers/variable_server.h"
#include "variable_mgmt/towers/towers.h"
#include "variable_mgmt/world/test/processes.h"

namespace bench {
namespace {

constexpr double kDecay = 1.0 / 16;
constexpr double kRate = 1.0 / 16;
constexpr std::int64_t kBatch = 4;

/// A convolution over images placed along W computes the mean over the batch.
Graph scalar_model(std::int64_t batch, DType dtype) {
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
  if (dtype == DType::f16) {
    graph = mixed_precision(graph, dtype, Weights16::cast);
  }
  return add_backward(graph, "loss");
}

/// The losses of four steps, with the L2 term (total) and without (base).
struct OracleLosses {
  std::array<double, 4> total;
  std::array<double, 4> base;
};

/// The losses with the mean of the gradients, as on one device, and with the sum of two devices.
struct OracleRule {
  OptimizerRule rule;
  OracleLosses of_mean;
  OracleLosses of_sum;
};

const std::array kRules{OracleRule{SgdRule{},
                                   {.total = {1.15625, 8.38563776, 5.53226187, -9.58548351},
                                    .base = {1, 8.23823547, 5.43845897, -9.66270669}},
                                   {.total = {1.15625, 7.63874245, -2.59694984, -35.2715042},
                                    .base = {1, 7.49981689, -2.66140094, -35.448971}}},
                        OracleRule{MomentumRule{},
                                   {.total = {1.15625, 7.71236472, -2.52466576, -36.7086006},
                                    .base = {1, 7.57260818, -2.58850108, -36.9104342}},
                                   {.total = {1.15625, 6.35409754, -10.9491107, -171.103948},
                                    .base = {1, 6.22949524, -11.0349579, -171.99231}}},
                        OracleRule{RmspropRule{},
                                   {.total = {1.15625, 8.60833416, 11.3735971, 7.01656766},
                                    .base = {1, 8.45842297, 11.2549594, 6.94104961}},
                                   {.total = {1.15625, 8.14094232, 9.53503587, 4.02779885},
                                    .base = {1, 7.99658842, 9.42946943, 3.96777733}}},
                        OracleRule{AdamRule{},
                                   {.total = {1.15625, 8.31860382, 14.3401158, 19.1731446},
                                    .base = {1, 8.17382842, 14.2044711, 19.0467465}},
                                   {.total = {1.15625, 8.31860367, 14.3401155, 19.1731442},
                                    .base = {1, 8.17382827, 14.2044708, 19.0467461}}}};

/// A way to share variables.
struct OracleCase {
  const char* strategy;
  int towers;
  const char* spec = "";
  bool one_holder = false;
  /// Processes that hold the variables.
  int servers = 0;
};

constexpr std::array kCases{
    OracleCase{.strategy = "parameter_server", .towers = 1},
    OracleCase{.strategy = "parameter_server", .towers = 2},
    OracleCase{.strategy = "parameter_server", .towers = 2, .one_holder = true},
    OracleCase{.strategy = "parameter_server", .towers = 1, .servers = 2},
    OracleCase{.strategy = "parameter_server", .towers = 2, .servers = 2},
    OracleCase{.strategy = "distributed_replicated", .towers = 2, .servers = 1},
    OracleCase{.strategy = "replicated", .towers = 2},
    OracleCase{.strategy = "replicated", .towers = 2, .spec = "pscpu"},
    OracleCase{.strategy = "replicated", .towers = 2, .spec = "psgpu"},
    OracleCase{.strategy = "distributed_all_reduce", .towers = 2, .spec = "psgpu#2"},
    OracleCase{.strategy = "collective_all_reduce", .towers = 2},
    OracleCase{.strategy = "horovod", .towers = 2}};

using MakeBackend = std::unique_ptr<Backend> (*)();

void expect_oracle(MakeBackend make_backend, const OracleCase& row, const OracleRule& optimizer,
                   DType dtype, double tolerance, World* world) {
  const std::int64_t batch = kBatch / row.towers;
  const bool summed = find_strategy(row.strategy).reduction == GradientReduction::sum;
  StrategySettings settings{
      .optimizer = {.rule = optimizer.rule, .weight_decay = summed ? kDecay * row.towers : kDecay},
      .one_holder = row.one_holder,
      .served = row.servers > 0};
  if (*row.spec != '\0') {
    settings.sums.spec = parse_all_reduce_spec(row.spec);
  }
  TowerThreads threads(row.towers);
  std::vector<std::unique_ptr<Backend>> backends(static_cast<std::size_t>(row.towers));
  const Graph graph = scalar_model(batch, dtype);
  const InitialValues values = initial_values(graph, 1);
  Towers towers(
      threads,
      [&](int number, TowerCommunicator& communicator) {
        std::unique_ptr<Backend>& backend = backends[static_cast<std::size_t>(number)];
        backend = make_backend();
        TowerWithUpdate made{
            .tower = std::make_unique<Tower>(graph, *backend, ExecutorOptions{}, values),
            .update = nullptr};
        made.update =
            find_strategy(row.strategy)
                .make({.tower = *made.tower, .number = number, .communicator = communicator},
                      settings);
        return made;
      },
      settings.sums, world);
  std::array<float, 16> data{};
  std::iota(data.begin(), data.end(), -1.0F);
  const OracleLosses& expected = summed ? optimizer.of_sum : optimizer.of_mean;
  for (std::size_t step = 0; step < 4; ++step) {
    const auto count = static_cast<std::size_t>(row.towers);
    std::vector<double> base(count);
    std::vector<double> decay(count);
    towers.run([&](int number) {
      Tower& tower = towers[number];
      tower.enqueue(data.data() + step * kBatch + number * batch, nullptr,
                    {.learning_rate = kRate,
                     .gradient_scale = summed ? 1.0 : 1.0 / row.towers,
                     .number = static_cast<std::int32_t>(step)});
      towers.update(number)->update();
      tower.wait();
      base[static_cast<std::size_t>(number)] = tower.executor().read_scalar("loss");
      decay[static_cast<std::size_t>(number)] = tower.executor().read_scalar("l2_loss");
    });
    const auto expect_mean = [&](const std::vector<double>& losses, double of_oracle) {
      EXPECT_NEAR(std::accumulate(losses.begin(), losses.end(), 0.0) / row.towers, of_oracle,
                  tolerance * std::abs(of_oracle))
          << row.strategy << " " << row.spec << ", " << row_of(optimizer.rule).name << ", "
          << row.towers << " towers, step " << step + 1;
    };
    expect_mean(base, expected.base.at(step));
    std::transform(base.begin(), base.end(), decay.begin(), base.begin(), std::plus<>());
    expect_mean(base, expected.total.at(step));
  }
}

/// Trains in one process, with the row's servers in others.
void expect_oracle_with_servers(MakeBackend make_backend, const OracleCase& row,
                                const OracleRule& optimizer, DType dtype, double tolerance) {
  FakeNetwork network(1 + row.servers);
  const auto errors = run_processes(network, [&](World& world) {
    world.set_workers(1);
    if (world.rank() > 0) {
      const auto backend = make_backend();
      serve_variables(world, *backend,
                      {.optimizer = {.rule = optimizer.rule, .weight_decay = kDecay}});
      return;
    }
    expect_oracle(make_backend, row, optimizer, dtype, tolerance, &world);
    end_servers(world, 0);
  });
  EXPECT_THAT(errors, testing::Each(""));
}

void expect_oracles(MakeBackend make_backend, DType dtype, double tolerance) {
  for (const OracleCase& row : kCases) {
    for (const OracleRule& optimizer : kRules) {
      if (row.servers > 0) {
        expect_oracle_with_servers(make_backend, row, optimizer, dtype, tolerance);
      } else {
        expect_oracle(make_backend, row, optimizer, dtype, tolerance, nullptr);
      }
    }
  }
}

constexpr double kTolerance = 1e-5;

TEST(ScalarOracle, HoldsForTheReference) {
  expect_oracles(make_reference_backend, DType::f32, kTolerance);
}

TEST(ScalarOracle, HoldsForTheReferenceInF16) {
  constexpr double kTolerance16 = 3e-2;
  expect_oracles(make_reference_backend, DType::f16, kTolerance16);
}

TEST(ScalarOracle, HoldsForOnednn) {
  expect_oracles(
      [] { return make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}}); },
      DType::f32, kTolerance);
}

}  // namespace
}  // namespace bench

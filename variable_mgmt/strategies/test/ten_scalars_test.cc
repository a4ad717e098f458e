// The gradients of tf_cnn_benchmarks' tests: ten scalars, with values N * i + j on device i of N.
// Their sums are exact in every packing, transfer and order.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "kernels/reference/reference_backend.h"
#include "models/ops/conv2d.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {
namespace {

constexpr std::size_t kScalars = 10;

/// Only the variables of this graph matter; they are initially 0.
Graph ten_scalars() {
  Graph graph;
  ValueId x = graph.add_input("images", {.dtype = DType::f32, .shape = {1, 1, 1, 1}});
  for (std::size_t j = 0; j < kScalars; ++j) {
    const std::string name = fmt::format("scalar{}", j);
    const ValueId scalar =
        graph.add_variable(name, {.dtype = DType::f32, .shape = {1, 1, 1, 1}}, VariableRole::weight,
                           {.kind = Initializer::Kind::constant, .mean = 0});
    x = graph.add_node(kConv2d, name, Conv2dAttributes{}, {x, scalar})[0];
  }
  graph.set_output("loss", graph.add_node(kSpatialMean, "mean", {}, {x})[0]);
  return add_backward(graph, "loss");
}

struct TenScalars {
  int towers = 10;
  StrategySettings settings = {};
};

using Scalars = std::vector<float>;

/// Returns each tower's variables after a step with these gradients, and after another with zeros.
/// Uses sgd with a rate of 1.
std::array<std::vector<Scalars>, 2> run_ten_scalars(const TenScalars& run) {
  const Graph graph = ten_scalars();
  const InitialValues values = initial_values(graph, 1);
  TowerThreads threads(run.towers);
  const auto count = static_cast<std::size_t>(run.towers);
  std::vector<std::unique_ptr<Backend>> backends(count);
  Towers towers(
      threads,
      [&](int number, TowerCommunicator& communicator) {
        std::unique_ptr<Backend>& backend = backends[static_cast<std::size_t>(number)];
        backend = make_reference_backend();
        TowerWithUpdate made{
            .tower = std::make_unique<Tower>(graph, *backend, ExecutorOptions{}, values),
            .update = nullptr};
        made.update =
            find_strategy("replicated")
                .make({.tower = *made.tower, .number = number, .communicator = communicator},
                      run.settings);
        return made;
      },
      run.settings.sums);
  std::array<std::vector<Scalars>, 2> results{std::vector<Scalars>(count),
                                              std::vector<Scalars>(count)};
  for (const int step : {0, 1}) {
    towers.run([&](int number) {
      Tower& tower = towers[number];
      Executor& executor = tower.executor();
      const float image = 0;
      tower.enqueue(&image, nullptr, {.learning_rate = 1, .gradient_scale = 1, .number = step});
      const TensorView gradients = executor.gradients();
      Scalars flat(gradients.bytes / sizeof(float));
      const auto& segments = executor.segments();
      ASSERT_EQ(segments.size(), kScalars);
      for (std::size_t j = 0; step == 0 && j < kScalars; ++j) {
        flat[segments[j].offset] = static_cast<float>(run.towers * number + static_cast<int>(j));
      }
      executor.stream().upload(std::as_bytes(std::span(flat)), gradients.data);
      towers.update(number)->update();
      executor.stream().download(executor.variables().data,
                                 std::as_writable_bytes(std::span(flat)));
      tower.wait();
      for (const OptimizerSegment& segment : segments) {
        results.at(static_cast<std::size_t>(step))[static_cast<std::size_t>(number)].push_back(
            flat[segment.offset]);
      }
    });
  }
  return results;
}

void expect_exact_sums(const TenScalars& run, const std::string& what) {
  const int n = run.towers;
  Scalars moved;
  for (int j = 0; j < static_cast<int>(kScalars); ++j) {
    moved.push_back(static_cast<float>(-(n * n * (n - 1) / 2 + n * j)));
  }
  const auto [first, second] = run_ten_scalars(run);
  for (std::size_t tower = 0; tower < first.size(); ++tower) {
    EXPECT_EQ(first[tower], run.settings.relaxed ? Scalars(kScalars) : moved) << what;
    EXPECT_EQ(second[tower], moved) << what;
  }
}

TEST(TenScalars, AreAddedExactlyHoweverTheyArePackedAndSent) {
  for (const std::string_view algorithm : {"copy", "hierarchical/dgx1", "pscpu", "xring"}) {
    for (const int packs : {0, 3}) {
      for (const bool relaxed : {false, true}) {
        for (const bool compact : {false, true}) {
          TenScalars run{.settings = {.optimizer = {.rule = SgdRule{}}, .relaxed = relaxed}};
          SumSettings& sums = run.settings.sums;
          sums.packs = packs;
          if (compact) {
            // f16 holds every whole number up to 2048.
            sums.narrow = DType::f16;
          }
          if (algorithm != "copy") {
            sums.spec = {{.algorithm = std::string(algorithm)}};
          }
          if (algorithm == "hierarchical/dgx1") {
            run.towers = 8;
          }
          expect_exact_sums(run, fmt::format("{}, {} packs, relaxed {}, compact {}", algorithm,
                                             packs, relaxed, compact));
        }
      }
    }
  }
}

}  // namespace
}  // namespace bench

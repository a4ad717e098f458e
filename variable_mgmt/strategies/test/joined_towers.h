#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "models/passes/backward.h"
#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"
#include "variable_mgmt/checkpoint/run_state.h"
#include "variable_mgmt/towers/towers.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// The batch of all towers together, a multiple of every tested number of towers.
inline constexpr std::int64_t kJoinedBatch = 24;
inline constexpr std::int64_t kJoinedPixels = 5;
inline constexpr std::int64_t kJoinedClasses = 7;
inline constexpr double kLearningRate = 0.05;

/// A network without batch norm, whose statistics would differ per tower. Dropout draws the same as
/// on one device, for a number of elements per image that is not a multiple of four.
inline ValueId build_joined(NetworkBuilder& net, ValueId images) {
  ValueId x = net.conv("conv", images, {.channels = 3, .window = {.kernel = 3}});
  x = net.relu("relu", net.dropout("drop_pixels", x, 0.75));
  x = net.drop_path("drop_path", x, 0.5);
  x = net.fully_connected("hidden", net.flatten("flat", x), {.outputs = 9});
  return net.head(net.dropout("drop_hidden", net.relu("relu_hidden", x), 0.5));
}

inline constexpr Model kJoinedModel{.name = "joined",
                                    .printed_name = "joined",
                                    .dataset = "imagenet",
                                    .image_size = kJoinedPixels,
                                    .default_batch = kJoinedBatch,
                                    .rate = ModelRate::constant,
                                    .build = build_joined};

/// The network of tower `tower` of `towers`.
inline Graph joined_network(int tower, int towers, DType dtype) {
  const std::int64_t batch = kJoinedBatch / towers;
  return build_network(kJoinedModel, {.batch = batch,
                                      .first_image = tower * batch,
                                      .num_classes = kJoinedClasses,
                                      .dtype = dtype});
}

struct JoinedRun {
  std::string strategy = "replicated";
  StrategySettings settings = {};
  GradientReduction reduction = GradientReduction::mean;
  int towers = 1;
  /// The processes, each with that many towers; null: a single one.
  World* world = nullptr;
  int steps = 3;
  /// The steps that are complete in the file from which the run continues.
  int first_step = 0;
  std::string continue_from = {};
  /// Write the state after the last step to this file.
  std::string save_to = {};
  /// An additional factor of the gradients.
  double gradient_factor = 1;
  /// Makes a tower's device, on the tower's thread.
  std::function<std::unique_ptr<Backend>(int tower)> backend;
  double loss_scale = 1;
  /// An image that contains a NaN.
  struct Spoiled {
    int step = 0;
    std::int64_t image = 0;
  };
  std::optional<Spoiled> spoiled = {};
  /// Called with every tower's device at the end, on the tower's thread.
  std::function<void(const Backend& device)> at_end = [](const Backend&) {};

  [[nodiscard]] int all_towers() const {
    return towers * (world == nullptr ? 1 : world->workers());
  }
  /// The towers whose gradients make one update.
  [[nodiscard]] int towers_of_update() const {
    const bool with_servers = world != nullptr && world->size() > world->workers();
    return with_servers ? towers : all_towers();
  }
  [[nodiscard]] int towers_before() const {
    return towers * (world == nullptr ? 0 : world->rank());
  }
};

using VariableValues = std::map<std::string, std::vector<double>>;

/// The result of a run.
struct JoinedResult {
  /// The mean of the process's towers' losses in each step.
  std::vector<double> losses;
  /// The variables of each tower.
  std::vector<VariableValues> variables;
  std::vector<StepState> states;
  /// Why the first tower's steps cannot be recorded.
  std::string why_not_recorded = {};
};

/// Images and labels, the same in every run and different in every step.
struct JoinedImages {
  std::vector<float> images;
  std::vector<std::int32_t> labels;

  explicit JoinedImages(int step) : images(kJoinedBatch * 3 * kJoinedPixels * kJoinedPixels) {
    std::mt19937 random(static_cast<unsigned>(step) + 1);
    std::uniform_real_distribution<float> pixel(-1, 1);
    std::generate(images.begin(), images.end(), [&] { return pixel(random); });
    for (std::int64_t i = 0; i < kJoinedBatch; ++i) {
      labels.push_back(static_cast<std::int32_t>(random() % kJoinedClasses));
    }
  }
};

inline VariableValues variables_of(Executor& executor) {
  VariableValues values;
  if (executor.trained_dtype() == DType::f64) {
    // Reading by name would return f32.
    const TensorView flat = executor.variables();
    std::vector<double>& all = values["all"];
    all.resize(flat.bytes / sizeof(double));
    executor.stream().download(flat.data, std::as_writable_bytes(std::span(all)));
    executor.stream().synchronize();
    return values;
  }
  for (const Variable& variable : executor.graph().variables()) {
    const std::string& name = executor.graph().value(variable.value).name;
    const std::vector<float> narrow = executor.read_variable(name);
    values[name] = {narrow.begin(), narrow.end()};
  }
  return values;
}

inline void write_run_state(const RunState& state, const std::string& path) {
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, tensor] : state.tensors) {
    tensors.push_back({name, tensor.type, tensor.shape, std::span(tensor.bytes)});
  }
  write_tensor_file(AtomicFile(path), tensors, state.metadata);
}

/// Trains the network on `towers` towers, as the program does.
inline JoinedResult run_joined(const JoinedRun& run) {
  TowerThreads threads(run.towers);
  const auto count = static_cast<std::size_t>(run.towers);
  std::vector<std::unique_ptr<Backend>> backends(count);
  StrategySettings settings = run.settings;
  if (run.reduction == GradientReduction::sum) {
    settings.optimizer.weight_decay *= run.towers_of_update();
  }
  const InitialValues values = initial_values(joined_network(0, 1, settings.optimizer.dtype), 7);
  JoinedResult result{.losses = {},
                      .variables = std::vector<VariableValues>(count),
                      .states = std::vector<StepState>(count)};
  {
    Towers towers(
        threads,
        [&](int number, TowerCommunicator& communicator) {
          std::unique_ptr<Backend>& backend = backends[static_cast<std::size_t>(number)];
          backend = run.backend(number);
          const Graph graph =
              add_backward(joined_network(run.towers_before() + number, run.all_towers(),
                                          settings.optimizer.dtype),
                           "loss");
          TowerWithUpdate made{
              .tower = std::make_unique<Tower>(graph, *backend,
                                               ExecutorOptions{.format = DataFormat::nchw}, values),
              .update = nullptr};
          made.tower->set_loss_scale(run.loss_scale);
          made.update =
              find_strategy(run.strategy)
                  .make({.tower = *made.tower, .number = number, .communicator = communicator},
                        settings);
          return made;
        },
        settings.sums, run.world);
    result.why_not_recorded = towers.update(0)->why_not_recorded();
    std::vector<double> losses(count);
    const TowerVariables related =
        run.strategy == "independent" ? TowerVariables::separate : TowerVariables::shared;
    if (!run.continue_from.empty()) {
      const TensorFile file(run.continue_from);
      towers.run([&](int number) { restore_run_state(towers, number, related, file, run.world); });
    }
    for (int step = run.first_step; step < run.steps; ++step) {
      JoinedImages batch(step);
      if (run.spoiled && run.spoiled->step == step) {
        batch.images[static_cast<std::size_t>(run.spoiled->image) * batch.images.size() /
                     kJoinedBatch] = std::numeric_limits<float>::quiet_NaN();
      }
      towers.run([&](int number) {
        const auto place = static_cast<std::size_t>(number);
        const auto of_all = static_cast<std::size_t>(run.towers_before() + number);
        const auto all = static_cast<std::size_t>(run.all_towers());
        Tower& tower = towers[number];
        towers.update(number)->begin_step();
        tower.enqueue(
            batch.images.data() + batch.images.size() / all * of_all,
            batch.labels.data() + batch.labels.size() / all * of_all,
            {.learning_rate = kLearningRate,
             .gradient_scale =
                 run.gradient_factor *
                 (run.reduction == GradientReduction::mean ? 1.0 / run.towers_of_update() : 1.0),
             .number = step});
        towers.update(number)->update();
        towers.update(number)->watch();
        tower.wait();
        losses[place] = tower.executor().read_scalar("loss");
      });
      double sum = 0;
      for (const double loss : losses) {
        sum += loss / run.towers;
      }
      result.losses.push_back(sum);
    }
    if (!run.save_to.empty()) {
      const RunState state = read_run_state(towers, related, run.world);
      if (run.towers_before() == 0) {
        write_run_state(state, run.save_to);
      }
    }
    towers.run([&](int number) {
      const auto place = static_cast<std::size_t>(number);
      result.variables[place] = variables_of(towers[number].executor());
      result.states[place] = towers[number].seen_state();
    });
  }
  threads.run([&](int number) {
    std::unique_ptr<Backend>& backend = backends[static_cast<std::size_t>(number)];
    run.at_end(*backend);
    backend.reset();
  });
  return result;
}

/// Runs one device with all images and a gradient that is `times` as large.
inline JoinedResult alone(JoinedRun run, int times) {
  // The sum of N towers' gradients is N times the mean over the joined batch.
  run.strategy = "independent";
  run.settings.one_holder = false;
  run.reduction = GradientReduction::mean;
  run.towers = 1;
  run.settings.optimizer.weight_decay *= times;
  run.gradient_factor = times;
  return run_joined(run);
}

/// The largest difference between two runs' variables, relative to the largest element of the
/// variable.
inline double largest_difference(const VariableValues& a, const VariableValues& b) {
  double largest = 0;
  for (const auto& [name, values] : a) {
    const std::vector<double>& others = b.at(name);
    double size = 0;
    double difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      size = std::max(size, std::abs(others[i]));
      difference = std::max(difference, std::abs(values[i] - others[i]));
    }
    largest = std::max(largest, difference / size);
  }
  return largest;
}

}  // namespace bench

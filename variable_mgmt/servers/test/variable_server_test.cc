#include "variable_mgmt/servers/variable_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kernels/reference/reference_backend.h"
#include "variable_mgmt/servers/server_link.h"
#include "variable_mgmt/strategies/test/joined_towers.h"
#include "variable_mgmt/world/test/processes.h"

namespace bench {
namespace {

using testing::ElementsAre;

constexpr int kWorkers = 3;
constexpr int kServers = 2;

std::vector<OptimizerSegment> segments_of(const std::vector<std::size_t>& counts) {
  std::vector<OptimizerSegment> segments;
  std::size_t offset = 0;
  for (const std::size_t count : counts) {
    segments.push_back({.offset = offset, .count = count});
    offset += count;
  }
  return segments;
}

std::vector<std::vector<std::size_t>> offsets_of(
    const std::vector<std::vector<OptimizerSegment>>& parts) {
  std::vector<std::vector<std::size_t>> offsets;
  for (const auto& part : parts) {
    offsets.emplace_back();
    for (const OptimizerSegment& segment : part) {
      offsets.back().push_back(segment.offset);
    }
  }
  return offsets;
}

TEST(DivideAmongServers, GivesAVariableToTheServerWithTheFewestElements) {
  EXPECT_THAT(offsets_of(divide_among_servers(segments_of({4, 10, 3, 3, 2, 1}), 2)),
              ElementsAre(ElementsAre(0, 14, 17, 20), ElementsAre(4, 22)));
  EXPECT_THAT(offsets_of(divide_among_servers(segments_of({5}), 2)),
              ElementsAre(ElementsAre(0), ElementsAre()));
}

JoinedRun run_with(const OptimizerRule& rule, int towers) {
  return {.strategy = "parameter_server",
          .settings = {.optimizer = {.rule = rule, .weight_decay = 0.01, .dtype = DType::f64},
                       .served = true},
          .towers = towers,
          .backend = [](int) { return make_reference_backend(); }};
}

/// Runs the workers with their servers. Returns the workers' results.
std::vector<JoinedResult> run_with_servers(const JoinedRun& run, int workers, int servers,
                                           bool synchronous = true) {
  std::vector<JoinedResult> results(static_cast<std::size_t>(workers));
  FakeNetwork network(workers + servers);
  const auto errors = run_processes(network, [&](World& world) {
    world.set_workers(workers);
    if (world.rank() >= workers) {
      const auto backend = make_reference_backend();
      EXPECT_EQ(serve_variables(world, *backend,
                                {.optimizer = run.settings.optimizer, .synchronous = synchronous}),
                workers - 1);
      return;
    }
    JoinedRun own = run;
    own.world = &world;
    results[static_cast<std::size_t>(world.rank())] = run_joined(own);
    end_servers(world, world.rank());
  });
  EXPECT_THAT(errors, testing::Each(""));
  return results;
}

std::vector<double> download(Executor& executor, const TensorView& region) {
  std::vector<double> values(region.bytes / sizeof(double));
  executor.stream().download(region.data, std::as_writable_bytes(std::span(values)));
  executor.stream().synchronize();
  return values;
}

/// The variables after some steps. In each, every worker's gradient makes one update, although all
/// gradients were computed with the variables from before the step.
std::vector<double> updated_in_sequence(const JoinedRun& run) {
  const OptimizerSettings& settings = run.settings.optimizer;
  const auto backend = make_reference_backend();
  const InitialValues values = initial_values(joined_network(0, 1, settings.dtype), 7);
  std::vector<std::unique_ptr<Tower>> towers;
  for (int worker = 0; worker < kWorkers; ++worker) {
    towers.push_back(std::make_unique<Tower>(
        add_backward(joined_network(worker, kWorkers, settings.dtype), "loss"), *backend,
        ExecutorOptions{.format = DataFormat::nchw}, values));
  }
  Executor& first = towers.front()->executor();
  std::vector<double> variables = download(first, first.variables());
  const std::vector<OptimizerSegment> segments = first.segments();
  const auto optimizer = backend->make_optimizer(settings, segments);
  std::vector<std::vector<double>> slots(row_of(settings.rule).slots(),
                                         std::vector<double>(variables.size()));
  std::vector<void*> places;
  for (std::vector<double>& slot : slots) {
    places.push_back(slot.data());
  }
  const auto stream = backend->make_stream();
  StepState state;
  optimizer->reset(*stream, places, &state);
  for (int step = 0; step < run.steps; ++step) {
    const JoinedImages batch(step);
    const std::vector<double> before = variables;
    for (std::size_t worker = 0; worker < towers.size(); ++worker) {
      Tower& tower = *towers[worker];
      const StepParameters parameters{.learning_rate = kLearningRate, .number = step};
      stream->upload(std::as_bytes(std::span(before)), tower.executor().variables().data);
      tower.enqueue(batch.images.data() + batch.images.size() / kWorkers * worker,
                    batch.labels.data() + batch.labels.size() / kWorkers * worker, parameters);
      tower.wait();
      const auto gradients = download(tower.executor(), tower.executor().gradients());
      state.parameters = parameters;
      optimizer->launch(*stream,
                        {.variables = variables.data(),
                         .gradients = gradients.data(),
                         .decaying = before.data(),
                         .slots = places},
                        &state);
    }
  }
  return variables;
}

TEST(VariableServer, UpdatesOncePerWorkerInTheOrderOfRanks) {
  for (const OptimizerRow& row : all_optimizers()) {
    const JoinedRun run = run_with(row.rule, 1);
    const std::vector<double> expected = updated_in_sequence(run);
    for (const JoinedResult& result : run_with_servers(run, kWorkers, kServers)) {
      EXPECT_EQ(result.variables.front().at("all"), expected) << row.name;
    }
  }
}

TEST(VariableServer, UpdatesOneWorkerAsItsTowersAlone) {
  for (const int servers : {1, 2, 9}) {
    const JoinedRun run = run_with(MomentumRule{}, 2);
    JoinedRun not_served = run;
    not_served.settings.served = false;
    const JoinedResult one = alone(not_served, 1);
    const JoinedResult served = run_with_servers(run, 1, servers).front();
    for (const VariableValues& variables : served.variables) {
      EXPECT_LE(largest_difference(variables, one.variables.front()), 1e-12) << servers;
    }
  }
}

TEST(VariableServer, AppliesGradientsAsTheyArriveIfWorkersAreAsynchronous) {
  const OptimizerSettings settings{.rule = SgdRule{}, .weight_decay = 0.5, .dtype = DType::f64};
  constexpr StepParameters kParameters{.learning_rate = 0.25};
  const double gradient = 2;
  FakeNetwork network(3);
  const auto errors = run_processes(network, [&](World& world) {
    world.set_workers(2);
    if (world.rank() == 2) {
      const auto backend = make_reference_backend();
      serve_variables(world, *backend, {.optimizer = settings, .synchronous = false});
      return;
    }
    double variable = 8;
    ServerLink link(world, segments_of({1}), sizeof(double));
    link.set_variables(reinterpret_cast<const std::byte*>(&variable));
    const auto exchange = [&] {
      link.exchange(kParameters, 1, reinterpret_cast<const std::byte*>(&gradient),
                    reinterpret_cast<std::byte*>(&variable));
    };
    if (world.rank() == 0) {
      exchange();
      EXPECT_EQ(variable, 8 - 0.25 * (2 + 0.5 * 8));
      exchange();
      EXPECT_EQ(link.reply().staleness, 0);
    }
    world.gather("");
    if (world.rank() == 1) {
      const double others = 6.5 - 0.25 * (2 + 0.5 * 6.5);
      exchange();
      EXPECT_EQ(link.reply().staleness, 2);
      EXPECT_EQ(link.reply().updates, 3);
      // The decay is of the variable that the gradient was computed with.
      EXPECT_EQ(variable, others - 0.25 * (2 + 0.5 * 8));
    }
    end_servers(world, 0);
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(VariableServer, WaitsForAWorkerAfterAnotherHasLeft) {
  FakeNetwork network(3);
  const Ticking ticking(network);
  const auto errors = run_processes(network, [&](World& world) {
    world.set_workers(2);
    if (world.rank() == 2) {
      const auto backend = make_reference_backend();
      serve_variables(world, *backend, {});
    } else {
      const auto begin = network.now();
      while (world.rank() == 0 && network.now() - begin < std::chrono::seconds(20)) {
        std::this_thread::yield();
      }
      end_servers(world, 0);
    }
    world.leave(0);
    EXPECT_EQ(world.failure(), "");
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(VariableServer, EndsWithTheWorldIfAWorkerFails) {
  FakeNetwork network(3);
  const auto errors = run_processes(network, [&](World& world) {
    world.set_workers(2);
    if (world.rank() == 2) {
      const auto backend = make_reference_backend();
      serve_variables(world, *backend, {});
    } else if (world.rank() == 1) {
      world.fail("the disk is full");
    }
  });
  EXPECT_EQ(errors[2], "the disk is full");
}

}  // namespace
}  // namespace bench

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <numeric>
#include <sstream>
#include <thread>

#include "bench/flags/test/usage_error.h"
#include "bench/loop/test/several_towers.h"
#include "bench/loop/test/towers_run.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/test/far_device.h"

namespace bench {
namespace {

using testing::HasSubstr;

TEST(SeveralTowers, KeepTheSameVariablesWhereTheyShareThem) {
  for (const std::string_view strategy : {"parameter_server", "replicated", "independent"}) {
    TowersRun run = run_of(strategy, 3);
    run.run();
    EXPECT_EQ(run.result.steps.size(), 4U) << strategy;
    EXPECT_EQ(run.weights[0] == run.weights[1] && run.weights[1] == run.weights[2],
              strategy != "independent")
        << strategy;
  }
}

TEST(SeveralTowers, AddAroundARingInTheGivenOrder) {
  TowersRun run = run_of("replicated", 3);
  run.settings.execution.sharing.sums.spec = {{.algorithm = "xring"}};
  run.settings.execution.sharing.sums.ring_order = {2, 0, 1};
  run.run();
  EXPECT_EQ(run.weights[0], run.weights[1]);
  EXPECT_EQ(run.weights[0], run.weights[2]);
  run.settings.execution.sharing.sums.ring_order = {2, 0, 2};
  EXPECT_THROW(run.run(), UsageError);
}

TEST(SeveralTowers, ReportTheMeanOfTheirLossesAndTheImagesOfAll) {
  const auto run = [](int towers, int first_image) {
    TowersRun towers_run = run_of("independent", towers);
    towers_run.settings.execution.steps.num_batches = 1;
    towers_run.first_image = first_image;
    towers_run.run();
    return towers_run;
  };
  const double of_zeros = run(1, 0).result.losses[0];
  const double of_ones = run(1, 1).result.losses[0];
  const TowersRun both = run(2, 0);
  EXPECT_NE(of_zeros, of_ones);
  EXPECT_DOUBLE_EQ(both.result.losses[0], (of_zeros + of_ones) / 2);
  // Two towers of two images each, in a step of 100 ms.
  EXPECT_THAT(both.out, HasSubstr("total images/sec: 40.00"));
}

TEST(SeveralTowers, ReportHowTheirStepTimesAreSpent) {
  for (const std::string_view strategy : {"parameter_server", "replicated", "independent"}) {
    TowersRun run = run_of(strategy, 2);
    run.timed = true;
    run.run();
    const auto steps = std::accumulate(run.result.steps.begin(), run.result.steps.end(),
                                       std::chrono::nanoseconds(0));
    ASSERT_EQ(run.result.shares.size(), 2U) << strategy;
    for (const StepTimes& share : run.result.shares) {
      EXPECT_GT(share.input.count(), 0) << strategy;
      EXPECT_GT(share.computing.count(), 0) << strategy;
      EXPECT_GT(share.updating.count(), 0) << strategy;
      EXPECT_EQ(share.exposed_communication > share.waiting, strategy != "independent") << strategy;
      EXPECT_GE(share.waiting.count(), 0) << strategy;
      EXPECT_GT(share.host.count(), 0) << strategy;
      EXPECT_EQ(share.total(), steps) << strategy;
    }
  }
  TowersRun lone = run_of("replicated", 1);
  lone.run();
  EXPECT_THAT(lone.result.shares, testing::IsEmpty());
}

TEST(SeveralTowers, ReportNoSharesOnAsynchronousDevices) {
  TowersRun run = run_of("replicated", 2);
  run.make_backend = [] { return make_far_backend(make_reference_backend(), {}); };
  run.run();
  EXPECT_EQ(run.result.steps.size(), 4U);
  EXPECT_THAT(run.result.shares, testing::IsEmpty());
}

TEST(StepTimes, ArePrintedAsSharesOfTheSteps) {
  using std::chrono::milliseconds;
  std::ostringstream out;
  const std::vector<StepTimes> shares{{.input = milliseconds(2),
                                       .computing = milliseconds(70),
                                       .exposed_communication = milliseconds(16),
                                       .updating = milliseconds(8),
                                       .host = milliseconds(4),
                                       .waiting = milliseconds(6)}};
  print_shares(out, shares, milliseconds(100));
  EXPECT_EQ(out.str(),
            "tower 0: input 2.0 % of the step time, computing 70.0 %, exposed communication 16.0 % "
            "(6.0 % waiting for slower towers), update 8.0 %, host 4.0 %\n");
}

TEST(SeveralTowers, AllocateThePlannedMemoryOnEachDevice) {
  constexpr std::size_t kHas = std::size_t{1} << 30;
  using Words = std::vector<std::string_view>;
  for (const Words& how :
       {Words{"--variable_update=parameter_server"}, Words{"--variable_update=replicated"},
        Words{"--staged_vars"}, Words{"--variable_update=independent"},
        Words{"--local_parameter_device=cpu"},
        // Every gradient has a separate copy.
        Words{"--variable_update=replicated", "--dtype=bf16", "--compact_gradient_transfer",
              "--gradient_repacking=1000"}}) {
    Words words{"--model=resnet20", "--data_name=cifar10", "--device=reference",
                "--batch_size=2",   "--num_gpus=3",        "--optimizer=adam"};
    words.insert(words.end(), how.begin(), how.end());
    const RunSettings settings = resolve_settings(parse(words));
    const auto make = [&](int) {
      FarSchedule schedule;
      schedule.memory_bytes = kHas;
      return make_far_backend(make_reference_backend(), schedule);
    };
    SeveralTowers towers(settings, make,
                         initial_values(build_run_network(settings.workload, 2), 1));
    Backend& first = (*towers).first().backend();
    const PlannedMemory planned = plan_run_memory(settings, first, 2);
    for (int tower = 0; tower < settings.workload.towers; ++tower) {
      const std::size_t taken =
          kHas - (*towers)[tower].backend().memory_traits().free_bytes.value_or(0);
      const std::size_t place = planned.of_tower(static_cast<std::size_t>(tower)).device;
      // The plan does not include step parameters and other small buffers.
      EXPECT_LE(taken, place + 1024) << how.back() << ", tower " << tower;
      EXPECT_GE(taken + planned.executor.staging, place) << how.back() << ", tower " << tower;
    }
  }
}

TEST(SeveralTowers, NameTheOneThatFailedAndEndTheOthers) {
  for (const std::string_view strategy : {"parameter_server", "replicated", "independent"}) {
    for (const Fault fault : {Fault::kernel, Fault::optimizer}) {
      for (const int tower : {0, 2}) {
        TowersRun run = run_of(strategy, 3);
        run.fault = fault;
        run.faulty_tower = tower;
        try {
          run.run();
          ADD_FAILURE() << strategy << ": nothing failed";
        } catch (const DeviceError& error) {
          EXPECT_EQ(error.what(), fmt::format("tower {}: the {} broke", tower,
                                              fault == Fault::kernel ? "kernel" : "update"))
              << strategy;
        }
        EXPECT_EQ(run.result.steps.size(), 2U) << strategy;
      }
    }
  }
}

TEST(SeveralTowers, EndWithTheirInput) {
  TowersRun run = run_of("replicated", 2);
  run.input_fails_at = 3;
  EXPECT_THROW(run.run(), DataError);
  EXPECT_EQ(run.result.steps.size(), 3U);
}

TEST(SeveralTowers, EndWhenInterruptedWhileTheirInputIsStalled) {
  for (const std::int64_t stalls_at : {0, 2}) {
    TowersRun run = run_of("replicated", 2);
    run.input_stalls_at = stalls_at;
    // The check after each step must not see the interrupt yet.
    int asked = 0;
    run.interrupted = [&](std::int64_t steps) { return steps == stalls_at && ++asked > 3; };
    run.run();
    EXPECT_EQ(run.result.stop, Stop::interrupted);
    EXPECT_EQ(static_cast<std::int64_t>(run.result.steps.size()), stalls_at);
  }
}

TEST(SeveralTowers, EndAfterTheSameStep) {
  TowersRun run = run_of("replicated", 3);
  run.interrupted = [](std::int64_t steps) { return steps == 2; };
  run.run();
  EXPECT_EQ(run.result.stop, Stop::interrupted);
  EXPECT_EQ(run.result.steps.size(), 2U);
  EXPECT_EQ(run.weights[0], run.weights[2]);
}

TEST(SeveralTowers, AreEndedWithinAPassOfTheirNetwork) {
  const RunSettings settings = run_of("independent", 3).settings;
  SeveralTowers towers(
      settings, [](int) { return make_reference_backend(); },
      initial_values(build_run_network(settings.workload, 2), 1));
  const std::vector<float> images(static_cast<std::size_t>(2 * 3 * kImageSize * kImageSize));
  const std::vector<std::int32_t> labels(2);
  std::atomic<int> begun = 0;
  try {
    (*towers).run([&](int number) {
      ++begun;
      if (number == 1) {
        while (begun < 3) {
          std::this_thread::yield();
        }
        throw std::bad_alloc();
      }
      // Endless, and without waiting for other towers.
      for (std::int32_t step = 0;; ++step) {
        (*towers)[number].run(images.data(), labels.data(), step);
      }
    });
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "tower 1: the host is out of memory (std::bad_alloc)");
  }
}

}  // namespace
}  // namespace bench

#include "bench/runs/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A run of four steps that take 10 ms per image plus a fixed time.
RunOutcome outcome_of(std::int64_t batch) {
  RunOutcome outcome;
  outcome.units_per_step = batch;
  for (const int extra : {0, 0, 0, 4}) {
    outcome.session.steps.emplace_back(milliseconds(10 * batch + extra));
    outcome.session.wall += outcome.session.steps.back() + milliseconds(1);
  }
  outcome.memory.executor.activations = static_cast<std::size_t>(batch) * kMiB;
  outcome.peak_rss = static_cast<std::int64_t>(2 * static_cast<std::size_t>(batch) * kMiB);
  return outcome;
}

/// A sweep with fake runs, and its output.
struct Sweep {
  std::function<RunOutcome(std::int64_t)> run = outcome_of;
  bool interrupted = false;
  std::vector<std::int64_t> ran = {};
  std::ostringstream out = {};
  std::ostringstream err = {};

  int operator()(const std::vector<std::int64_t>& sizes) {
    return sweep(
        sizes,
        [this](std::int64_t batch) {
          ran.push_back(batch);
          return run(batch);
        },
        [this] { return interrupted; }, {.out = out, .err = err});
  }
};

TEST(Sweep, PrintsALinePerBatchInTheOrderGiven) {
  Sweep sweep;
  EXPECT_EQ(sweep({8, 2}), 0);
  EXPECT_THAT(sweep.ran, ElementsAre(8, 2));
  // 8 images x 4 steps / 328 ms; deviation of 100, 100, 100 and 95.238 images/s over the root of 4.
  EXPECT_EQ(sweep.out.str(),
            "batch  images/sec   +/-  ms/step  planned  peak RSS\n"
            "    8       97.56  1.03    80.00  8.0 MiB  16.0 MiB\n"
            "    2       90.91  3.61    20.00  2.0 MiB   4.0 MiB\n");
  EXPECT_EQ(sweep.err.str(), "batch 8, run 1 of 2\nbatch 2, run 2 of 2\n");
}

TEST(Sweep, CountsTheImagesOfAllDevices) {
  Sweep sweep;
  sweep.run = [](std::int64_t batch) {
    RunOutcome outcome = outcome_of(batch);
    outcome.units_per_step = 2 * batch;
    return outcome;
  };
  sweep({8});
  EXPECT_THAT(sweep.out.str(), HasSubstr("\n    8      195.12  2.06    80.00"));
}

TEST(Sweep, GoesOnAfterARunThatFails) {
  Sweep sweep;
  sweep.run = [](std::int64_t batch) {
    RunOutcome outcome = outcome_of(batch);
    outcome.status = batch == 2 ? 1 : 0;
    return outcome;
  };
  EXPECT_EQ(sweep({1, 2, 3}), 1);
  EXPECT_THAT(sweep.ran, ElementsAre(1, 2, 3));
  EXPECT_THAT(sweep.out.str(), HasSubstr("4.0 MiB  failed\n"));
}

TEST(Sweep, EndsWithTheRunThatWasInterrupted) {
  Sweep sweep;
  sweep.run = [&](std::int64_t batch) {
    RunOutcome outcome = outcome_of(batch);
    sweep.interrupted = batch == 2;
    if (sweep.interrupted) {
      outcome.status = 130;
      outcome.session = {};
      outcome.session.stop = Stop::interrupted;
      outcome.peak_rss = Unknown{"no file"};
    }
    return outcome;
  };
  EXPECT_EQ(sweep({1, 2, 3}), 130);
  EXPECT_THAT(sweep.ran, ElementsAre(1, 2));
  EXPECT_THAT(sweep.out.str(), HasSubstr("\n    1       83.33"));
  EXPECT_THAT(
      sweep.out.str(),
      testing::EndsWith("\n    2           -     -        -  2.0 MiB   unknown  ended after 0 "
                        "steps\n"));
}

TEST(Sweep, PrintsWhatItHasWhenARunThrows) {
  Sweep sweep;
  sweep.run = [](std::int64_t batch) {
    return batch == 2 ? throw UsageError("no memory") : outcome_of(batch);
  };
  EXPECT_EQ(usage_error([&] { sweep({1, 2, 3}); }), "no memory");
  EXPECT_THAT(sweep.out.str(), HasSubstr("\n    1 "));
  EXPECT_THAT(sweep.out.str(), Not(HasSubstr("\n    2 ")));
  Sweep nothing;
  nothing.run = [](std::int64_t) -> RunOutcome { throw UsageError("no memory"); };
  EXPECT_EQ(usage_error([&] { nothing({1, 2}); }), "no memory");
  EXPECT_EQ(nothing.out.str(), "");
}

TEST(RunOfASweep, HasItsBatchAndSeparateFiles) {
  const RunSettings settings = resolve_settings(
      parse({"--batch_size=8,16", "--result_file=r.json", "--save_variables=v.safetensors",
             "--trace_file=t.json", "--init_from=i"}));
  const RunSettings own = settings_of_run(settings, 16);
  EXPECT_EQ(own.workload.batch, 16);
  EXPECT_EQ(own.outputs.files.result, "r.batch16.json");
  EXPECT_EQ(own.outputs.files.save_variables, "v.batch16.safetensors");
  EXPECT_EQ(own.outputs.files.trace, "t.batch16.json");
  EXPECT_EQ(own.workload.init_from, "i");
}

}  // namespace
}  // namespace bench

// Tests the batches of several towers: who waits for them, and when their memory is overwritten.

#include "bench/loop/batches_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <sstream>
#include <thread>

#include "bench/loop/session.h"
#include "bench/loop/test/residual.h"
#include "bench/loop/test/several_towers.h"
#include "bench/plan/memory_check.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"
#include "results/environment/clock.h"

namespace bench {
namespace {

using Wait = BatchesAhead::Wait;

/// Provides batches up to `there`, and then stalls.
class StallingInput final : public InputSource {
 public:
  explicit StallingInput(int there) : there_(there) {}
  InputBatch next() override {
    if (fails) {
      throw DataError("the shard ended");
    }
    released_ = false;
    label_ = ++given_;
    return {.images = &image_, .labels = &label_};
  }
  bool ready_within(std::chrono::nanoseconds time) override {
    asked_of_all = asked_of_all && released_;
    waited_for = waited_for || time > std::chrono::nanoseconds(0);
    return given_ < there_ || fails;
  }
  [[nodiscard]] InputStatistics statistics() const override { return {}; }

  void release() override { released_ = true; }

  void bring_one() { ++there_; }

  bool fails = false;
  /// Each batch was released before the next one was requested.
  bool asked_of_all = true;
  /// A caller that allows waiting asked for a batch.
  std::atomic<bool> waited_for = false;

 private:
  bool released_ = false;
  std::atomic<int> there_;
  std::int32_t given_ = 0;
  float image_ = 0;
  std::int32_t label_ = 0;
};

struct Batches {
  explicit Batches(int there) : input(there) {}
  StallingInput input;
  SteadyClock clock;
  std::chrono::nanoseconds waited{};
  std::atomic<bool> interrupted = false;
  BatchesAhead ahead{input, clock, waited, [this] { return interrupted.load(); }};
};

TEST(BatchesAhead, AreAcquiredOnceForAllTowers) {
  Batches batches(10);
  EXPECT_EQ(batches.ahead.next()->labels[0], 1);
  batches.ahead.begin_step();
  EXPECT_FALSE(batches.ahead.brought_ahead().has_value());
  for (int tower = 0; tower < 3; ++tower) {
    EXPECT_EQ(batches.ahead.ahead(Wait::no)->labels[0], 2);
  }
  EXPECT_TRUE(batches.ahead.brought_ahead().has_value());
  batches.ahead.begin_step();
  EXPECT_EQ(batches.ahead.ahead(Wait::yes)->labels[0], 3);
}

TEST(BatchesAhead, AreReleasedBeforeTheNextOneIsWaitedFor) {
  Batches batches(3);
  ASSERT_TRUE(batches.ahead.next());
  EXPECT_TRUE(batches.input.asked_of_all);
  ASSERT_TRUE(batches.ahead.next());
  EXPECT_TRUE(batches.input.asked_of_all) << "when a step begins";
  batches.ahead.begin_step();
  ASSERT_TRUE(batches.ahead.ahead(Wait::yes));
  EXPECT_TRUE(batches.input.asked_of_all) << "while they work on the step before";
  batches.ahead.begin_step();
  EXPECT_FALSE(batches.ahead.ahead(Wait::no));
  EXPECT_TRUE(batches.input.asked_of_all) << "by who does not wait";
}

TEST(BatchesAhead, AreNotWaitedForWithoutARequestToWait) {
  Batches batches(0);
  EXPECT_FALSE(batches.ahead.ahead(Wait::no));
}

TEST(BatchesAhead, AreNotWaitedForInAnInterruptedRun) {
  Batches batches(0);
  batches.interrupted = true;
  EXPECT_FALSE(batches.ahead.next());
  EXPECT_FALSE(batches.ahead.ahead(Wait::yes));
  EXPECT_GT(batches.waited.count(), 0);
}

TEST(BatchesAhead, AreNotWaitedForOnceATowerHasFailed) {
  Batches batches(0);
  std::jthread other([&] { batches.ahead.give_up(); });
  EXPECT_FALSE(batches.ahead.ahead(Wait::yes));
}

TEST(BatchesAhead, DoNotBlockATowerThatDoesNotWait) {
  Batches batches(0);
  std::vector<std::future<std::optional<InputBatch>>> waiting;
  for (int tower = 0; tower < 2; ++tower) {
    waiting.push_back(
        std::async(std::launch::async, [&] { return batches.ahead.ahead(Wait::yes); }));
  }
  while (!batches.input.waited_for) {
    std::this_thread::yield();
  }
  auto other = std::async(std::launch::async, [&] { return batches.ahead.ahead(Wait::no); });
  EXPECT_FALSE(other.get().has_value()) << "it comes back before there is a batch";
  batches.input.bring_one();
  for (auto& tower : waiting) {
    EXPECT_EQ(tower.get()->labels[0], 1);
  }
  EXPECT_EQ(batches.ahead.ahead(Wait::no)->labels[0], 1);
}

TEST(BatchesAhead, EndTheRunWhenTheBatchThatFailedIsNeeded) {
  Batches batches(1);
  batches.input.fails = true;
  EXPECT_FALSE(batches.ahead.ahead(Wait::yes));
  EXPECT_FALSE(batches.ahead.ahead(Wait::no));
  EXPECT_THROW(batches.ahead.next(), DataError);
}

/// Alternates batches in two slots, and overwrites a batch as soon as it is released. Records the
/// number of completed steps at each call.
class SpoilingInput final : public InputSource {
 public:
  SpoilingInput(const Workload& workload, const SessionResult& result)
      : elements_(image_elements(workload) * static_cast<std::size_t>(workload.global_batch())),
        labels_(static_cast<std::size_t>(workload.global_batch()), 1),
        result_(result) {}

  InputBatch next() override {
    steps_done.push_back(result_.global_steps());
    release();
    slot_ = 1 - slot_;
    std::vector<float>& images = slots_[slot_];
    images.resize(elements_);
    for (std::size_t i = 0; i < elements_; ++i) {
      images[i] = static_cast<float>((i * 7 + steps_done.size() * 31) % 251);
    }
    return {.images = images.data(), .labels = labels_.data()};
  }
  void release() override { slots_[slot_].assign(elements_, 1e6F); }
  [[nodiscard]] InputStatistics statistics() const override { return {}; }

  std::vector<std::int64_t> steps_done;

 private:
  std::size_t elements_;
  std::vector<std::int32_t> labels_;
  const SessionResult& result_;
  std::array<std::vector<float>, 2> slots_;
  std::size_t slot_ = 0;
};

struct SpoiledRun {
  std::vector<double> losses;
  std::vector<std::int64_t> steps_done;
};

SpoiledRun run(const RunSettings& settings,
               const std::function<std::unique_ptr<Backend>()>& make_backend) {
  SessionResult result;
  // Destroyed after the towers, which may compute on it.
  SpoilingInput input(settings.workload, result);
  SeveralTowers towers(
      settings, [&](int) { return make_backend(); },
      initial_values(build_run_network(settings.workload, settings.workload.batch), 1));
  const SteadyClock clock;
  StoppingRule stopping(step_limits(settings.execution), clock, [] { return false; });
  std::ostringstream out;
  run_session(settings,
              {.towers = *towers,
               .input = input,
               .clock = clock,
               .stopping = stopping,
               .out = out,
               .progress = out},
              result);
  return {.losses = result.losses, .steps_done = input.steps_done};
}

TEST(SeveralTowers, HaveTheirPartsBeforeABatchIsReleased) {
  for (const int towers : {1, 2, 4}) {
    for (const std::string_view strategy : {"replicated", "parameter_server", "independent"}) {
      RunSettings settings = residual();
      settings.workload.towers = towers;
      settings.workload.strategy = &find_strategy(strategy);
      settings.workload.reduction = settings.workload.strategy->reduction;
      settings.workload.learning_rate.request.init_learning_rate = 1e-5;
      const SpoiledRun near = run(settings, [] { return make_reference_backend(); });
      // If the device computes in the input's memory, a batch is acquired when its step begins.
      EXPECT_THAT(near.steps_done, testing::ElementsAre(0, 1, 2, 3, 4, 5));
      EXPECT_NE(near.losses.front(), near.losses.back());
      for (const FarSchedule& schedule : far_schedules(8)) {
        const SpoiledRun far =
            run(settings, [&] { return make_far_backend(make_reference_backend(), schedule); });
        EXPECT_EQ(far.losses, near.losses)
            << towers << " towers, " << strategy << ", seed " << schedule.seed;
        EXPECT_THAT(far.steps_done, testing::ElementsAre(0, 0, 1, 2, 3, 4))
            << "batches are brought while the step before is worked on";
      }
    }
  }
}

}  // namespace
}  // namespace bench

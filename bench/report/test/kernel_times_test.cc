#include "bench/report/kernel_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "bench/loop/session.h"
#include "bench/loop/test/lone_tower.h"
#include "bench/loop/test/residual.h"
#include "bench/loop/test/several_towers.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "bench/report/profile.h"
#include "kernels/forwarding_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"
#include "results/environment/test/fake_clock.h"

namespace bench {
namespace {

/// The times of one network that was fed once.
KernelTimes times_on(Backend& backend, bool training, std::vector<std::int64_t>* watched = nullptr,
                     std::chrono::milliseconds step = {}, std::optional<DType> sampled = {}) {
  FakeClock clock;
  RunSettings settings = residual();
  settings.workload.mode = training ? RunMode::training : RunMode::forward_only;
  LoneTower lone(settings, build_run_graph(settings, backend, settings.workload.batch), backend, {},
                 initial_values(build_run_network(settings.workload, settings.workload.batch), 1));
  Tower& tower = lone.tower();
  const auto input = make_run_input(settings, tower.executor().input_layout("images"));
  const InputBatch batch = input->next();
  tower.feed(batch.images, batch.labels);
  const Watch watch = [&](std::int64_t done, std::int64_t) {
    clock.advance(step);
    if (watched != nullptr) {
      watched->push_back(done);
    }
  };
  const std::vector<KernelTimes> times = time_kernels(lone.towers(), clock, watch, sampled);
  EXPECT_EQ(times.size(), 1U);
  EXPECT_EQ(times.front().kernels.size(), tower.executor().plan().steps.size());
  return times.front();
}

using MakeBackend = std::function<std::unique_ptr<Backend>(int tower)>;

std::unique_ptr<Backend> far_device(int /*tower*/) {
  return make_far_backend(make_reference_backend(), {});
}

/// Three equal towers that share their variables according to `strategy`, and their times.
struct TimedTowers {
  TimedTowers(std::string_view strategy, const MakeBackend& make_backend)
      : settings([&] {
          RunSettings chosen = residual();
          chosen.workload.towers = 3;
          chosen.workload.strategy = &find_strategy(strategy);
          chosen.workload.reduction = chosen.workload.strategy->reduction;
          return chosen;
        }()),
        towers(settings, make_backend, initial_values(build_run_network(settings.workload, 1), 1)) {
    input = make_run_input(settings, (*towers).first().executor().input_layout("images"));
    const InputBatch batch = input->next();
    (*towers).run([&](int number) {
      Tower& tower = (*towers)[number];
      tower.feed(batch.images, batch.labels);
      tower.wait();
    });
    FakeClock clock;
    times = time_kernels(*towers, clock);
  }
  Profile profile(int number) {
    return make_profile((*towers)[number].executor(), times[static_cast<std::size_t>(number)],
                        /*step_seconds=*/1, settings);
  }

  RunSettings settings;
  /// Destroyed after the towers, which may compute on it.
  std::unique_ptr<InputSource> input;
  SeveralTowers towers;
  std::vector<KernelTimes> times;
};

const ProfileRow& update_row(const Profile& profile) { return profile.rows.back(); }

void expect_whole(const KernelTimes& times) {
  const double kernels = std::accumulate(times.kernels.begin(), times.kernels.end(), 0.0);
  EXPECT_GT(kernels, 0);
  EXPECT_LE(kernels + times.update, times.whole * (1 + 1e-9));
}

TEST(KernelTimes, CoverEveryKernelInOrder) {
  const auto backend = make_reference_backend();
  const KernelTimes times = times_on(*backend, /*training=*/true);
  expect_whole(times);
  EXPECT_GT(times.update, 0);
  const std::vector<Executor::StepTime>& last = times.last.kernels;
  ASSERT_EQ(last.size(), times.kernels.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    EXPECT_LE(last[i].begin, last[i].end);
    EXPECT_EQ(last[i].begin, i == 0 ? std::chrono::nanoseconds(0) : last[i - 1].end);
  }
  EXPECT_LE(last.back().end, times.last.update.begin);
  EXPECT_LT(times.last.update.begin, times.last.update.end);
  EXPECT_EQ(times.exchange, 0);
}

TEST(KernelTimes, AreMeasuredOnAnAsynchronousDevice) {
  const auto far = make_far_backend(make_reference_backend(), {});
  expect_whole(times_on(*far, /*training=*/true));
}

TEST(KernelTimes, KnowNoUpdateWithoutTraining) {
  const auto backend = make_reference_backend();
  EXPECT_EQ(times_on(*backend, /*training=*/false).update, 0);
}

TEST(KernelTimes, AreMeansOfTenShortSteps) {
  const auto backend = make_reference_backend();
  std::vector<std::int64_t> watched;
  EXPECT_EQ(times_on(*backend, /*training=*/true, &watched).steps, 10);
  EXPECT_THAT(watched, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(KernelTimes, AreMeansOfFewerLongSteps) {
  const auto backend = make_reference_backend();
  std::vector<std::int64_t> watched;
  times_on(*backend, /*training=*/false, &watched, std::chrono::milliseconds(1100));
  EXPECT_THAT(watched, testing::ElementsAre(1, 2, 3));
  watched.clear();
  times_on(*backend, /*training=*/false, &watched, std::chrono::milliseconds(5000));
  EXPECT_THAT(watched, testing::ElementsAre(1));
}

/// Its arithmetic becomes slower with each sample.
class SlowingBackend : public ForwardingBackend {
 public:
  explicit SlowingBackend(Backend& inner) : ForwardingBackend(inner) {}
  std::optional<double> sample_flops(DType dtype) override {
    EXPECT_EQ(dtype, DType::bf16);
    return flops_ -= 1e9;
  }

 private:
  double flops_ = 11e9;
};

TEST(KernelTimes, HaveTheMeanOfTheSamples) {
  const auto backend = make_reference_backend();
  SlowingBackend slowing(*backend);
  const KernelTimes times = times_on(slowing, /*training=*/true, nullptr, {}, DType::bf16);
  EXPECT_DOUBLE_EQ(times.flops_per_second.value(), 5.5e9);
  EXPECT_FALSE(times_on(*backend, /*training=*/true, nullptr, {}, DType::bf16).flops_per_second);
  EXPECT_FALSE(times_on(slowing, /*training=*/true).flops_per_second);
}

TEST(KernelTimes, IncludeEveryTowersPartOfTheAllReduce) {
  for (const std::string_view strategy : {"parameter_server", "replicated"}) {
    const TimedTowers timed(strategy, [](int) { return make_reference_backend(); });
    ASSERT_EQ(timed.times.size(), 3U);
    for (const KernelTimes& times : timed.times) {
      EXPECT_EQ(times.steps, 10);
      expect_whole(times);
      EXPECT_GT(times.exchange, 0) << strategy;
      EXPECT_LE(times.exchange, times.update) << strategy;
      EXPECT_GT(times.last.exchange.count(), 0) << strategy;
    }
  }
  const TimedTowers apart("independent", [](int) { return make_reference_backend(); });
  EXPECT_EQ(apart.times.back().exchange, 0);
}

TEST(MakeProfile, SeparatesTheAllReduceFromTheUpdateIfPossible) {
  TimedTowers near("replicated", [](int) { return make_reference_backend(); });
  const Profile profile = near.profile(1);
  const ProfileRow& exchange = profile.rows.at(profile.rows.size() - 2);
  EXPECT_EQ(exchange.op, "exchange");
  EXPECT_EQ(exchange.implementation, "replicated");
  EXPECT_EQ(exchange.seconds, near.times[1].exchange);
  EXPECT_EQ(update_row(profile).op, "optimizer");
  EXPECT_DOUBLE_EQ(update_row(profile).seconds, near.times[1].update - near.times[1].exchange);
  EXPECT_GT(update_row(profile).bytes, 0);

  TimedTowers far("replicated", far_device);
  EXPECT_EQ(update_row(far.profile(1)).op, "exchange and optimizer");
  EXPECT_EQ(update_row(far.profile(1)).seconds, far.times[1].update);
}

TEST(MakeProfile, KnowsTheBytesOfAnUpdateOfAllVariables) {
  const auto bytes = [](std::string_view strategy) {
    TimedTowers timed(strategy, [](int) { return make_reference_backend(); });
    return update_row(timed.profile(0)).bytes;
  };
  EXPECT_EQ(bytes("independent"), bytes("replicated"));
  EXPECT_EQ(bytes("parameter_server"), 0) << "a tower updates a part";
}

}  // namespace
}  // namespace bench

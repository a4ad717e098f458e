#include "bench/after/kernel_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "bench/host/test/fake_clock.h"
#include "bench/loop/session.h"
#include "bench/loop/test/lone_tower.h"
#include "bench/loop/test/residual.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"

namespace bench {
namespace {

/// Of one network that was fed once.
KernelTimes times_on(Backend& backend, bool training, std::vector<std::int64_t>* watched = nullptr,
                     std::chrono::milliseconds step = {}) {
  FakeClock clock;
  RunSettings settings = residual();
  settings.mode = training ? RunMode::training : RunMode::forward_only;
  LoneTower lone(settings, build_run_graph(settings, backend, settings.batch), backend, {},
                 initial_values(build_run_network(settings, settings.batch), 1));
  Tower& tower = lone.tower();
  const auto input = make_run_input(settings, tower.executor().input_layout("images"));
  const InputBatch batch = input->next();
  tower.feed(batch.images, batch.labels);
  KernelTimes times = time_kernels(lone.towers(), clock, [&](std::int64_t done, std::int64_t) {
    clock.advance(step);
    if (watched != nullptr) {
      watched->push_back(done);
    }
  });
  EXPECT_EQ(times.kernels.size(), tower.executor().plan().steps.size());
  return times;
}

void expect_whole(const KernelTimes& times) {
  const double kernels = std::accumulate(times.kernels.begin(), times.kernels.end(), 0.0);
  EXPECT_GT(kernels, 0);
  EXPECT_LE(kernels + times.update, times.whole * (1 + 1e-9));
}

TEST(KernelTimes, AreThoseOfEveryKernelInItsOrder) {
  const auto backend = make_reference_backend();
  const KernelTimes times = times_on(*backend, /*training=*/true);
  expect_whole(times);
  EXPECT_GT(times.update, 0);
  ASSERT_EQ(times.last.size(), times.kernels.size());
  for (std::size_t i = 0; i < times.last.size(); ++i) {
    EXPECT_LE(times.last[i].begin, times.last[i].end);
    EXPECT_EQ(times.last[i].begin, i == 0 ? std::chrono::nanoseconds(0) : times.last[i - 1].end);
  }
}

TEST(KernelTimes, AreTheDevicesWhereItWorksLate) {
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

TEST(KernelTimes, AreThoseOfFewerLongSteps) {
  const auto backend = make_reference_backend();
  std::vector<std::int64_t> watched;
  times_on(*backend, /*training=*/false, &watched, std::chrono::milliseconds(1100));
  EXPECT_THAT(watched, testing::ElementsAre(1, 2, 3));
  watched.clear();
  times_on(*backend, /*training=*/false, &watched, std::chrono::milliseconds(5000));
  EXPECT_THAT(watched, testing::ElementsAre(1));
}

}  // namespace
}  // namespace bench

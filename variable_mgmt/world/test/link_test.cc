#include "variable_mgmt/world/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "variable_mgmt/world/test/processes.h"

namespace bench {
namespace {

TEST(FitLink, FindsTheLineThroughTwoSizes) {
  const Link link = fit_link({1000, 0.003}, {5000, 0.011}, {3000, 0.007});
  EXPECT_NEAR(link.bytes_per_second, 500e3, 1e-6);
  EXPECT_NEAR(link.latency, 0.001, 1e-12);
  EXPECT_NEAR(link.error, 0, 1e-12);
  EXPECT_NEAR(fit_link({1000, 0.003}, {5000, 0.011}, {3000, 0.014}).error, 0.5, 1e-12);
}

TEST(FitLink, AcceptsNoise) {
  const Link link = fit_link({1000, 0.004}, {5000, 0.003}, {3000, 0.004});
  EXPECT_GT(link.bytes_per_second, 0);
  EXPECT_GE(link.latency, 0);
}

/// What steady_fit() returns if the fits have these errors, and the number of fits.
std::pair<double, std::size_t> steady(const std::vector<double>& errors) {
  std::size_t fits = 0;
  const Link link = steady_fit([&] { return Link{.error = errors.at(fits++)}; });
  return {link.error, fits};
}

TEST(SteadyFit, RepeatsADisturbedFit) {
  EXPECT_EQ(steady({0.1}), std::pair(0.1, 1UL));
  EXPECT_EQ(steady({0.3, 0.1}), std::pair(0.1, 2UL));
  EXPECT_EQ(steady({0.4, 0.3, 0.5}), std::pair(0.3, 3UL));
}

TEST(MeasureLink, GivesAllWorkersTheSameNumbers) {
  for (const int workers : {2, 3, 4}) {
    FakeNetwork network(workers);
    std::vector<Link> links(static_cast<std::size_t>(workers));
    const auto errors = run_processes(network, [&](World& world) {
      links[static_cast<std::size_t>(world.rank())] =
          measure_link(world, [] { return std::chrono::steady_clock::now().time_since_epoch(); });
    });
    EXPECT_THAT(errors, testing::Each(""));
    for (const Link& link : links) {
      EXPECT_GT(link.bytes_per_second, 0);
      EXPECT_EQ(link.bytes_per_second, links.front().bytes_per_second);
      EXPECT_EQ(link.latency, links.front().latency);
    }
  }
}

}  // namespace
}  // namespace bench

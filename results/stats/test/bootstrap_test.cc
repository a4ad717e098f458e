#include "results/stats/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/stats/geometric_mean.h"
#include "results/stats/test/oracle.h"

namespace bench::results::stats {
namespace {

TEST(Bootstrap, AgreesWithScipysBcaOfUngroupedRuns) {
  for (const auto& one : oracle("bootstrap")) {
    const std::vector<Nested> samples = {{numbers(one["a"])}, {numbers(one["b"])}};
    const BootstrapResult result =
        hierarchical_bootstrap(samples, difference_of_medians, {.replicates = 20000, .seed = 3});
    // Two sets of random draws: a tenth of the standard error.
    const double near = one["error"].get<double>() / 10;
    EXPECT_NEAR(result.interval.low, one["interval"][0].get<double>(), near);
    EXPECT_NEAR(result.interval.high, one["interval"][1].get<double>(), near);
  }
}

/// Days that differ by 2 %, with runs of a day that differ by 0.1 %.
Nested made_days(std::uint64_t seed) {
  RandomStream random(seed);
  Nested groups(6);
  for (auto& group : groups) {
    const double day = 0.02 * static_cast<double>(random.normal());
    for (int i = 0; i < 5; ++i) group.push_back(day + 0.001 * static_cast<double>(random.normal()));
  }
  return groups;
}

TEST(Bootstrap, GroupsAreTheReplicatesIfGroupsDiffer) {
  const std::vector<Nested> nested = {made_days(1), made_days(2)};
  std::vector<Nested> flat(2);
  for (std::size_t side = 0; side < 2; ++side) {
    flat[side].emplace_back();
    for (const auto& group : nested[side]) {
      flat[side][0].insert(flat[side][0].end(), group.begin(), group.end());
    }
  }
  const auto length = [](const std::vector<Nested>& samples) {
    const BootstrapResult result = hierarchical_bootstrap(samples, difference_of_medians, {});
    return result.interval.high - result.interval.low;
  };
  EXPECT_GT(length(nested), 1.3 * length(flat));
}

TEST(Bootstrap, CoversTheTruthAtItsNominalRate) {
  int held = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::vector<Nested> samples = {made_days(2 * i + 10), made_days(2 * i + 11)};
    const BootstrapOptions options = {.replicates = 499, .seed = i};
    held += hierarchical_bootstrap(samples, difference_of_medians, options).interval.contains(0);
  }
  // Six days are few for a bootstrap, which falls short of its 95 % there.
  EXPECT_GE(held, 83);
}

TEST(Bootstrap, IsReproducibleBySeed) {
  const std::vector<Nested> samples = {made_days(1), made_days(2)};
  const auto once = hierarchical_bootstrap(samples, difference_of_medians, {.seed = 5});
  EXPECT_EQ(once.interval,
            hierarchical_bootstrap(samples, difference_of_medians, {.seed = 5}).interval);
  EXPECT_NE(once.interval,
            hierarchical_bootstrap(samples, difference_of_medians, {.seed = 6}).interval);
}

TEST(Bootstrap, RefusesSamplesWithoutRuns) {
  const std::vector<Nested> samples = {{{1, 2}}, {{}}};
  EXPECT_THROW(hierarchical_bootstrap(samples, difference_of_medians, {}), InternalError);
}

TEST(GeometricMean, WeighsModelsAlike) {
  const std::vector<double> one = {0, 0, 0};
  const std::vector<double> twice(3, std::log(2));
  const std::vector<double> eight(3, std::log(8));
  const std::vector<ModelRuns> models = {{.reference = one, .other = twice},
                                         {.reference = one, .other = eight}};
  EXPECT_NEAR(geometric_mean(models, {}).log_ratio, std::log(4), 1e-12);
}

TEST(GeometricMean, IntervalComesFromRunsAlone) {
  const std::vector<ModelRuns> models = {
      {.reference = {0, 0.01, 0.02, 0.03}, .other = {1, 1.01, 1.02, 1.03}},
      {.reference = {5, 5.01, 5.02, 5.03}, .other = {7, 7.01, 7.02, 7.03}}};
  const GeometricMean mean = geometric_mean(models, {});
  EXPECT_NEAR(mean.log_ratio, 1.5, 1e-12);
  EXPECT_TRUE(mean.interval->contains(1.5));
  EXPECT_LT(mean.interval->high - mean.interval->low, 0.06);
  EXPECT_FALSE(
      geometric_mean(std::vector<ModelRuns>{{.reference = {1}, .other = {2}}}, {}).interval);
}

}  // namespace
}  // namespace bench::results::stats

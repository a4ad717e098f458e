#include "results/stats/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/record/statistics.h"
#include "results/stats/distributions.h"

namespace bench::results::stats {
namespace {

std::vector<double> draw_runs(const std::vector<double>& runs, RandomStream& random) {
  std::vector<double> drawn(runs.size());
  for (double& value : drawn) value = runs[random.below(static_cast<std::uint32_t>(runs.size()))];
  return drawn;
}

Nested draw_groups(const Nested& sample, RandomStream& random) {
  Nested drawn(sample.size());
  for (auto& group : drawn) {
    const auto chosen = random.below(static_cast<std::uint32_t>(sample.size()));
    group = draw_runs(sample[chosen], random);
  }
  return drawn;
}

/// The samples without the unit `left_out` of one of them.
std::vector<Nested> without(std::span<const Nested> samples, std::size_t of, std::size_t left_out) {
  std::vector<Nested> rest(samples.begin(), samples.end());
  Nested& sample = rest[of];
  const auto at = static_cast<std::ptrdiff_t>(left_out);
  if (sample.size() > 1) {
    sample.erase(sample.begin() + at);
  } else {
    sample[0].erase(sample[0].begin() + at);
  }
  return rest;
}

double acceleration(std::span<const Nested> samples, const NestedStatistic& statistic) {
  double cubes = 0;
  double squares = 0;
  for (std::size_t of = 0; of < samples.size(); ++of) {
    const std::size_t units = samples[of].size() > 1 ? samples[of].size() : samples[of][0].size();
    if (units < 2) continue;
    std::vector<double> values;
    for (std::size_t i = 0; i < units; ++i) values.push_back(statistic(without(samples, of, i)));
    const double centre = mean(values);
    const auto n = static_cast<double>(units);
    for (const double value : values) {
      const double influence = (n - 1) * (centre - value);
      cubes += std::pow(influence / n, 3);
      squares += std::pow(influence / n, 2);
    }
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

/// The probability whose quantile of the replicates is the interval's end, for normal quantile `z`.
double corrected(double bias, double a, double z) {
  return normal_cdf(bias + (bias + z) / (1 - a * (bias + z)));
}

}  // namespace

BootstrapResult hierarchical_bootstrap(std::span<const Nested> samples,
                                       const NestedStatistic& statistic,
                                       const BootstrapOptions& options) {
  for (const Nested& sample : samples) {
    check(!sample.empty(), "bootstrap: a sample is empty");
    for (const auto& group : sample) check(!group.empty(), "bootstrap: a group is empty");
  }
  BootstrapResult result;
  result.estimate = statistic(samples);
  std::vector<double> replicates;
  std::vector<Nested> drawn(samples.size());
  RandomStream random(options.seed);
  for (int i = 0; i < options.replicates; ++i) {
    for (std::size_t s = 0; s < samples.size(); ++s) drawn[s] = draw_groups(samples[s], random);
    replicates.push_back(statistic(drawn));
  }
  std::sort(replicates.begin(), replicates.end());
  const auto [first, last] =
      std::equal_range(replicates.begin(), replicates.end(), result.estimate);
  const auto n = static_cast<double>(replicates.size());
  // Replicates that equal the estimate count by half, as many do for a median of few values.
  const double below =
      (static_cast<double>(first - replicates.begin()) + static_cast<double>(last - first) / 2) / n;
  const double bias = normal_quantile(std::clamp(below, 0.5 / n, 1 - 0.5 / n));
  const double a = acceleration(samples, statistic);
  const double z = normal_quantile(options.alpha / 2);
  result.interval = {.low = quantile(replicates, corrected(bias, a, z)),
                     .high = quantile(replicates, corrected(bias, a, -z))};
  const auto [zero, above] = std::equal_range(replicates.begin(), replicates.end(), 0.0);
  const auto not_above = static_cast<double>(above - replicates.begin());
  const auto not_below = static_cast<double>(replicates.end() - zero);
  result.p = std::min(1.0, 2 * (1 + std::min(not_above, not_below)) / (1 + n));
  return result;
}

double difference_of_medians(std::span<const Nested> samples) {
  check(samples.size() == 2, "bootstrap: a difference needs two samples");
  std::vector<double> medians;
  for (const Nested& sample : samples) {
    std::vector<double> runs;
    for (const auto& group : sample) runs.insert(runs.end(), group.begin(), group.end());
    medians.push_back(median(runs));
  }
  return medians[1] - medians[0];
}

}  // namespace bench::results::stats

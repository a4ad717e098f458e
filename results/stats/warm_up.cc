#include "results/stats/warm_up.h"

#include <cmath>
#include <vector>

#include "results/record/statistics.h"
#include "results/stats/group_summary.h"

namespace bench::results::stats {

std::size_t mser5_warm_up(std::span<const double> values) {
  constexpr std::size_t kBatch = 5;
  const std::size_t batches = values.size() / kBatch;
  if (batches < 2) return 0;
  std::vector<double> means(batches);
  for (std::size_t i = 0; i < batches; ++i) means[i] = mean(values.subspan(i * kBatch, kBatch));
  std::size_t best = 0;
  double least = 0;
  for (std::size_t cut = 0; cut <= batches / 2; ++cut) {
    const std::span<const double> rest = std::span<const double>(means).subspan(cut);
    const double spread = population_stddev(rest);
    const double error = spread * spread / static_cast<double>(rest.size());
    if (cut == 0 || error < least) {
      best = cut;
      least = error;
    }
  }
  return best * kBatch;
}

double rate_of(std::span<const double> step_seconds, std::int64_t items_per_step) {
  return static_cast<double>(items_per_step) / mean(step_seconds);
}

std::optional<double> within_run_error(std::span<const double> step_seconds) {
  if (step_seconds.size() < 3) return std::nullopt;
  const std::optional<double> r = lag1_autocorrelation(step_seconds);
  if (!r || *r >= 1 || *r <= -1) return std::nullopt;
  const double effective = static_cast<double>(step_seconds.size()) * (1 - *r) / (1 + *r);
  return sample_stddev(step_seconds) / std::sqrt(effective);
}

}  // namespace bench::results::stats

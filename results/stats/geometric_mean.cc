#include "results/stats/geometric_mean.h"

#include <algorithm>
#include <cstddef>

#include "models/base/errors.h"

namespace bench::results::stats {
namespace {

constexpr std::size_t kLeastRuns = 3;

}  // namespace

GeometricMean geometric_mean(std::span<const ModelRuns> models, const BootstrapOptions& options) {
  check(!models.empty(), "geometric mean: no models");
  std::vector<Nested> samples;
  double weights = 0;
  bool enough = true;
  for (const ModelRuns& model : models) {
    check(!model.reference.empty() && !model.other.empty(),
          "geometric mean: a ratio needs runs on both sides");
    samples.push_back({model.reference});
    samples.push_back({model.other});
    weights += model.weight;
    enough = enough && std::min(model.reference.size(), model.other.size()) >= kLeastRuns;
  }
  const auto statistic = [&](std::span<const Nested> drawn) {
    double sum = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      sum += models[i].weight * difference_of_medians(drawn.subspan(2 * i, 2));
    }
    return sum / weights;
  };
  if (!enough) return {.log_ratio = statistic(samples), .interval = std::nullopt};
  const BootstrapResult result = hierarchical_bootstrap(samples, statistic, options);
  return {.log_ratio = result.estimate, .interval = result.interval};
}

}  // namespace bench::results::stats

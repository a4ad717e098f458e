#include "bench/loop/step_statistics.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "models/base/errors.h"
#include "results/record/statistics.h"

namespace bench {

Speed speed_of_steps(std::int64_t images_per_step, std::span<const std::chrono::nanoseconds> steps,
                     std::optional<double> ewma) {
  check(!steps.empty(), "a speed needs at least one step");
  check(!ewma || (*ewma >= 0 && *ewma <= 1), "the weight is outside 0 to 1");
  const auto images = static_cast<double>(images_per_step);
  std::vector<double> speeds;
  speeds.reserve(steps.size());
  double weighted_time = 0;
  double weights = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double time = std::chrono::duration<double>(steps[i]).count();
    check(time > 0, "a step took no time");
    speeds.push_back(images / time);
    const auto age = static_cast<double>(steps.size() - 1 - i);
    const double weight = ewma ? std::pow(1 - *ewma, age) : 1.0;
    weighted_time += weight * time;
    weights += weight;
  }
  return {.mean = images * weights / weighted_time,
          .uncertainty =
              results::population_stddev(speeds) / std::sqrt(static_cast<double>(speeds.size())),
          .jitter = results::scaled_mad(speeds)};
}

}  // namespace bench

#include "bench/report/scaling_prediction.h"

#include <algorithm>
#include <cmath>

namespace bench {

double predicted_step(const StepTiming& timing, const Fabric& fabric, int processes) {
  if (processes == 1) {
    return timing.step;
  }
  constexpr double kDeviation = 0.01;
  const double on_host = fabric.per_host;
  const double hosts = std::ceil(processes / on_host);
  double end = 0;
  for (const BucketTime& bucket : timing.buckets) {
    const double within =
        on_host > 1 ? 2 * (on_host - 1) / on_host * bucket.bytes / fabric.bytes_per_second_within
                    : 0;
    const double between = hosts > 1
                               ? 2 * (hosts - 1) / hosts * bucket.bytes / fabric.bytes_per_second +
                                     2 * (hosts - 1) * fabric.per_message
                               : 0;
    end = std::max(end, bucket.ready) + std::max(within, between);
  }
  const double exposed = std::max(end - timing.computing, 0.0);
  return timing.step + exposed +
         kDeviation * timing.step * std::sqrt(2 * std::log(static_cast<double>(processes)));
}

}  // namespace bench

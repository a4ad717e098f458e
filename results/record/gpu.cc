#include "results/record/gpu.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bench::results {

std::uint64_t ClockEvents::seen() const {
  return std::accumulate(samples.begin(), samples.end(), std::uint64_t{0}, std::bit_or<>());
}

double ClockEvents::share(std::uint64_t bits, std::uint64_t without) const {
  if (samples.empty()) {
    return 0;
  }
  const auto found = std::count_if(samples.begin(), samples.end(), [&](std::uint64_t sample) {
    return (sample & bits) != 0 && (sample & without) == 0;
  });
  return static_cast<double>(found) / static_cast<double>(samples.size());
}

Captured<double> counted_watts(const GpuWatched& watched) {
  if (!watched.joules.known()) {
    return Unknown{watched.joules.why()};
  }
  return watched.joules.value() / std::chrono::duration<double>(watched.window).count();
}

}  // namespace bench::results

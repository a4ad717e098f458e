#include "bench/after/kernel_times.h"

#include <chrono>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::int64_t kSteps = 10;
constexpr std::chrono::seconds kEnough(3);

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

KernelTimes time_kernels(Towers& towers, const Clock& clock, const Watch& watch) {
  check(towers.size() == 1, "kernels are timed on a lone tower");
  Tower& tower = towers.first();
  UpdateStrategy* const strategy = towers.update(0);
  Backend& backend = tower.backend();
  const auto begun = backend.make_event();
  const auto computed = backend.make_event();
  const auto updated = backend.make_event();
  const std::size_t kernels = tower.executor().plan().steps.size();
  KernelTimes times{.kernels = std::vector<double>(kernels), .last = {}};
  const auto begin = clock.now();
  do {
    tower.stream().record(*begun);
    tower.upload_orders();
    tower.executor().enqueue_timed();
    tower.stream().record(*computed);
    if (strategy != nullptr) {
      strategy->update();
    }
    tower.stream().record(*updated);
    tower.wait();
    times.last = tower.executor().step_times();
    times.whole += seconds_of(updated->since(*begun));
    times.update += strategy != nullptr ? seconds_of(updated->since(*computed)) : 0;
    for (std::size_t i = 0; i < kernels; ++i) {
      times.kernels[i] += seconds_of(times.last[i].end - times.last[i].begin);
    }
    ++times.steps;
    tell(watch, times.steps, kSteps);
  } while (times.steps < kSteps && clock.now() - begin < kEnough);
  const auto steps = static_cast<double>(times.steps);
  times.whole /= steps;
  times.update /= steps;
  for (double& seconds : times.kernels) {
    seconds /= steps;
  }
  return times;
}

}  // namespace bench

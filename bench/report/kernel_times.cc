#include "bench/report/kernel_times.h"

namespace bench {
namespace {

constexpr std::int64_t kSteps = 10;
constexpr std::chrono::seconds kEnough(3);

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Runs one step of a tower on its thread and adds its times to `times`.
void time_step(Tower& tower, UpdateStrategy* strategy, KernelTimes& times) {
  Backend& backend = tower.backend();
  const auto begun = backend.make_event();
  const auto computed = backend.make_event();
  const auto updated = backend.make_event();
  times.last.begun = std::chrono::steady_clock::now();
  tower.stream().record(*begun);
  tower.upload_parameters();
  tower.executor().enqueue_timed();
  tower.stream().record(*computed);
  if (strategy != nullptr) {
    strategy->update();
  }
  tower.stream().record(*updated);
  if (strategy != nullptr) {
    strategy->watch();
  }
  tower.wait();
  times.last.kernels = tower.executor().step_times();
  times.whole += seconds_of(updated->since(*begun));
  if (strategy != nullptr) {
    times.last.update = {.begin = computed->since(*begun), .end = updated->since(*begun)};
    times.update += seconds_of(times.last.update.end - times.last.update.begin);
    if (backend.shares_host_memory()) {
      times.last.exchange = strategy->exchanged();
      times.exchange += seconds_of(times.last.exchange);
    }
  }
  for (std::size_t i = 0; i < times.kernels.size(); ++i) {
    times.kernels[i] += seconds_of(times.last.kernels[i].end - times.last.kernels[i].begin);
  }
  ++times.steps;
}

void add_sample(KernelTimes& times, std::optional<double> flops_per_second) {
  if (flops_per_second) {
    times.flops_per_second = times.flops_per_second.value_or(0) + *flops_per_second;
  }
}

void make_means(KernelTimes& times) {
  const auto steps = static_cast<double>(times.steps);
  if (times.flops_per_second) {
    *times.flops_per_second /= steps;
  }
  times.whole /= steps;
  times.update /= steps;
  times.exchange /= steps;
  for (double& seconds : times.kernels) {
    seconds /= steps;
  }
}

}  // namespace

std::vector<KernelTimes> time_kernels(Towers& towers, const Clock& clock, const Watch& watch,
                                      std::optional<DType> sampled) {
  std::vector<KernelTimes> all(static_cast<std::size_t>(towers.size()));
  for (int number = 0; number < towers.size(); ++number) {
    all[static_cast<std::size_t>(number)].kernels.resize(
        towers[number].executor().plan().steps.size());
  }
  const auto begin = clock.now();
  std::int64_t steps = 0;
  do {
    towers.run([&](int number) {
      KernelTimes& times = all[static_cast<std::size_t>(number)];
      time_step(towers[number], towers.update(number), times);
      if (sampled) {
        add_sample(times, towers[number].backend().sample_flops(*sampled));
      }
    });
    tell(watch, ++steps, kSteps);
  } while (steps < kSteps && clock.now() - begin < kEnough);
  for (KernelTimes& times : all) {
    make_means(times);
  }
  return all;
}

}  // namespace bench

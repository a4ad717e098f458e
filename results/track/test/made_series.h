#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/track/series.h"

namespace bench::results {

inline constexpr std::int64_t kFirstPointMs = 1'735'689'600'000;  ///< 2025-01-01.
inline constexpr std::int64_t kPointMs = 86'400'000;

/// The rate is multiplied from this run on.
struct MadeStep {
  std::size_t point = 0;
  double factor = 1;
};

struct MadeSeries {
  std::string workload = "resnet50 train bs64 f32";
  std::string machine = "node7";
  std::size_t points = 60;
  double cv = 0.005;
  double drift = 0;  ///< Relative, per run.
  std::vector<MadeStep> steps{};
  std::uint64_t seed = 1;
  bool canary = false;
  bool one_revision = false;
  Better better = Better::kHigher;
};

inline RunSeries made_series(const MadeSeries& made) {
  RandomStream random(made.seed);
  RunSeries series{.key = fmt::format("{}{}{:d}", made.workload, made.machine, made.canary),
                   .workload = made.workload,
                   .plain_workload = made.workload,
                   .workload_key = made.workload,
                   .machine = made.machine,
                   .machine_key = made.machine,
                   .metric = "images_per_sec",
                   .unit = "images/s",
                   .better = made.better,
                   .canary = made.canary};
  for (std::size_t i = 0; i < made.points; ++i) {
    double value = 200 * std::exp(made.cv * static_cast<double>(random.normal()) +
                                  made.drift * static_cast<double>(i));
    for (const MadeStep& step : made.steps) value *= i >= step.point ? step.factor : 1;
    series.points.push_back({.start_ms = kFirstPointMs + static_cast<std::int64_t>(i) * kPointMs,
                             .value = value,
                             .run_ids = {fmt::format("run{}{}", 1000000 + i, made.workload)},
                             .git_rev = made.one_revision ? "frozen" : fmt::format("rev{}", i)});
  }
  return series;
}

}  // namespace bench::results

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bench::results::stats {

/// The number of first values to skip as warm-up, by MSER-5 (White, "An effective truncation
/// heuristic for bias reduction in simulation output", 1997). It averages blocks of five values and
/// keeps the blocks from the place where their squared standard error is least. That place is in
/// the first half. A multiple of 5; 0 for fewer than ten values.
std::size_t mser5_warm_up(std::span<const double> values);

/// Items per second over all steps: all items divided by all the time. The mean of the steps' rates
/// would be too high by about their squared coefficient of variation. Throws InternalError without
/// steps.
double rate_of(std::span<const double> step_seconds, std::int64_t items_per_step);

/// The standard error of the mean of a run's steps: s / sqrt(n_eff), with n_eff = n (1 - r) / (1 +
/// r) for neighbours' correlation r. It describes this run's mean, not the next run, and is never
/// used to compare runs. Empty for fewer than three steps or no spread.
std::optional<double> within_run_error(std::span<const double> step_seconds);

}  // namespace bench::results::stats

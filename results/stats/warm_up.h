#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bench::results::stats {

/// How many of the first values to leave out as warm-up, by MSER-5 (White, "An effective truncation
/// heuristic for bias reduction in simulation output", 1997): of the means of five values each,
/// those from the place on whose squared standard error is least, in the first half. A multiple of
/// 5; 0 where there are fewer than ten values.
std::size_t mser5_warm_up(std::span<const double> values);

/// Items per second of steps that took so many seconds each: all items by all the time, since the
/// mean of the steps' rates is too high by about their squared coefficient of variation. Throws
/// InternalError for no steps.
double rate_of(std::span<const double> step_seconds, std::int64_t items_per_step);

/// The standard error of the mean of a run's steps: s / sqrt(n_eff), with n_eff = n (1 - r) / (1 +
/// r) of neighbours' correlation r. It tells how well this run's mean is known, nothing of the next
/// run, and is never used to compare runs. None for fewer than three steps or no spread.
std::optional<double> within_run_error(std::span<const double> step_seconds);

}  // namespace bench::results::stats

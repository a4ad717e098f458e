#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "bench/after/kernel_times.h"
#include "kernels/executor.h"
#include "models/base/atomic_file.h"
#include "results/record.h"

namespace bench {

/// One kernel's part of a step: a node, a reorder, or the optimizer.
struct ProfileRow {
  std::string name = {};
  /// The kind of op.
  std::string op = {};
  std::string implementation = {};
  /// Mean over the profiled steps.
  double seconds = 0;
  /// 2 per multiply-add of convolutions and fully connected layers.
  double flops = 0;
  /// What it must read and write at least: its inputs and outputs, each once.
  double bytes = 0;
};

/// Where the time of a step goes.
struct Profile {
  std::vector<ProfileRow> rows = {};
  /// How many steps were profiled.
  std::int64_t steps = 0;
  /// Mean time of a profiled step.
  double profiled_seconds = 0;
  /// Mean time of a measured step, none of which was profiled, without what it waited for input.
  double step_seconds = 0;
  /// None: the device has no measured ceiling, and no share of it is printed.
  std::optional<Ceiling> ceiling = {};
};

/// `step_seconds` is the mean of the measured steps, without what they waited for input;
/// kernels/optimizer.h has the optimizer's bytes.
Profile make_profile(const Executor& executor, const KernelTimes& times, double step_seconds,
                     const OptimizerSettings& optimizer);

/// The time a row would take if it ran at the ceiling: the longer of arithmetic and memory.
double roofline_seconds(const ProfileRow& row, const Ceiling& ceiling);

/// What the ceiling means for a step of these rows; unknown without one.
results::Roof roof_of(const Profile& profile);

/// Two tables, per kind of op and per kernel, costliest first; then the share of a profiled step
/// outside all kernels, and a measured step's of the roofline (what all kernels would take at the
/// ceiling, over the step's time).
void print_profile(std::ostream& out, const Profile& profile);

/// The last profiled step as a Chrome trace (chrome://tracing, ui.perfetto.dev), one event per
/// kernel. Throws WriteError.
void write_trace(const AtomicFile& file, const Executor& executor, const KernelTimes& times);

}  // namespace bench

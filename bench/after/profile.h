#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/after/kernel_times.h"
#include "bench/plan/settings.h"
#include "kernels/executor.h"
#include "models/base/atomic_file.h"
#include "results/record.h"

namespace bench {

/// One kernel's part of a tower's step: a node, a reorder, or the optimizer; or of several towers
/// their meeting.
struct ProfileRow {
  std::string name = {};
  /// The kind of op.
  std::string op = {};
  std::string implementation = {};
  /// Mean over the profiled steps.
  double seconds = 0;
  /// 2 per multiply-add of convolutions and fully connected layers.
  double flops = 0;
  /// What it must read and write at least: its inputs and outputs, each once; 0 where that is not
  /// known.
  double bytes = 0;
};

/// Where the time of a tower's step goes.
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

/// `step_seconds` is the mean of the measured steps, without what they waited for input. The
/// optimizer's bytes, which kernels/optimizer.h has, are known where every tower updates all
/// variables, and its time where its device computes in the host's memory or is alone: elsewhere
/// the row holds the meeting of the towers too.
Profile make_profile(const Executor& executor, const KernelTimes& times, double step_seconds,
                     const RunSettings& settings);

/// The time a row would take if it ran at the ceiling: the longer of arithmetic and memory.
double roofline_seconds(const ProfileRow& row, const Ceiling& ceiling);

/// What the ceiling means for a step of these rows; unknown without one.
results::Roof roof_of(const Profile& profile);
/// Of several towers' profiles, the roof of the one whose step takes the longest at least.
results::Roof roof_of(std::span<const Profile> towers);

/// Two tables, per kind of op and per kernel, costliest first; then the share of a profiled step
/// outside all kernels, and a measured step's of the roofline (what all kernels would take at the
/// ceiling, over the step's time).
void print_profile(std::ostream& out, const Profile& profile);
/// The same of every tower, each under its name where there are several.
void print_profiles(std::ostream& out, std::span<const Profile> towers);

/// The last profiled step as a Chrome trace (chrome://tracing, ui.perfetto.dev): a process per
/// tower, whose times begin with the step of the first to begin, an event per kernel and one for
/// the update with what the towers' meeting took of it. Throws WriteError.
void write_trace(const AtomicFile& file, Towers& towers, std::span<const KernelTimes> times);

}  // namespace bench

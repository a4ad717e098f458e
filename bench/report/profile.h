#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "bench/report/kernel_times.h"
#include "kernels/executor.h"
#include "models/base/atomic_file.h"
#include "results/record/record.h"

namespace bench {

/// One part of a tower's step: a node, a reorder or the optimizer; with several towers also their
/// exchange of gradients.
struct ProfileRow {
  std::string name = {};
  /// The kind of op.
  std::string op = {};
  std::string implementation = {};
  /// The mean over the profiled steps.
  double seconds = 0;
  /// 2 per multiply-add of convolutions and fully connected layers.
  double flops = 0;
  /// The part that the kernel can avoid: products with zeros of the padding, or those that its
  /// algorithm saves.
  double avoidable_flops = 0;
  /// The minimum number of bytes it reads and writes: its inputs and outputs, once each; 0 if
  /// unknown.
  double bytes = 0;
  /// The number of times it runs per step. All numbers above are sums over these runs.
  double runs = 1;
};

/// The times of a tower's step by part.
struct Profile {
  std::vector<ProfileRow> rows = {};
  /// The number of profiled steps.
  std::int64_t steps = 0;
  /// The mean time of a profiled step.
  double profiled_seconds = 0;
  /// The mean time of a measured, unprofiled step, without waits for input.
  double step_seconds = 0;
  /// nullopt: the device has no measured ceiling, so no fraction of it is printed.
  std::optional<Ceiling> ceiling = {};
  /// The mean of the ceiling's arithmetic between the profiled steps, if it was sampled.
  std::optional<double> sampled_flops = {};
};

/// `step_seconds` is the mean of the measured steps, without waits for input. The optimizer's bytes
/// (kernels/optimizer.h) are known if every tower updates all variables. Its time is known if the
/// device computes in host memory or is the only one. Otherwise the optimizer's row includes the
/// exchange between towers.
Profile make_profile(const Executor& executor, const KernelTimes& times, double step_seconds,
                     const RunSettings& settings);

/// The rows, for the record.
std::vector<results::KernelTime> kernels_of(const Profile& profile);

/// The least time for a row's arithmetic at the ceiling.
double arithmetic_seconds(const ProfileRow& row, const Ceiling& ceiling);
/// The least time for a row's reads and writes at the ceiling. In each run, the caches may hold
/// as many bytes as fit; the others come from the next level.
double memory_seconds(const ProfileRow& row, const Ceiling& ceiling);
/// The larger of both: no kernel takes less time.
double roofline_seconds(const ProfileRow& row, const Ceiling& ceiling);

/// The meaning of the ceiling for a step of these rows; unknown without a ceiling.
results::Roof roof_of(const Profile& profile);
/// The roof of the tower whose step has the longest minimum time.
results::Roof roof_of(std::span<const Profile> towers);

/// Prints two tables, per kind of op and per kernel, costliest first. Then prints two fractions:
/// the time outside all kernels in a profiled step, and the roofline fraction of a measured step.
/// The latter is the time of all kernels at the ceiling over the step's time.
void print_profile(std::ostream& out, const Profile& profile);
/// Prints the profile of every tower, with the tower's name if there are several.
void print_profiles(std::ostream& out, std::span<const Profile> towers);

/// Writes the last profiled step as a Chrome trace (chrome://tracing, ui.perfetto.dev). Each tower
/// is a process, each kernel an event, and the update an event with the exchange's time. Times
/// start when the first tower begins. Throws WriteError.
void write_trace(const AtomicFile& file, Towers& towers, std::span<const KernelTimes> times);

}  // namespace bench

#include "results/environment/environment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "models/base/errors.h"
#include "results/environment/decimal.h"

namespace bench {
namespace {

/// The user and system ticks of this process, fields 14 and 15 of proc(5). Counts fields after the
/// name, which is in parentheses and may contain any characters.
std::int64_t own_ticks(const SystemFiles& files) {
  const std::string text = files.read("/proc/self/stat").value_or("");
  const std::size_t bracket = text.rfind(')');
  if (bracket == text.npos) return 0;
  const std::vector<std::string> words = words_of(text.substr(bracket + 1));
  constexpr std::size_t kUser = 11;  // The first word here is field 3.
  if (words.size() <= kUser + 1) return 0;
  return parse_integer(words[kUser]).value_or(0) + parse_integer(words[kUser + 1]).value_or(0);
}

/// The number of processors that other processes used between the snapshots.
double busy_with_others(const ProcessorTimes& before, const ProcessorTimes& after) {
  // Count a task that was running at both times, in case no tick passed in between.
  const double running = std::min(before.procs_running, after.procs_running) - 1;
  return std::min(std::max(running, used_by_others(before, after)),
                  static_cast<double>(after.online));
}

/// Suggests flags for a run that must use this number of processors; empty if not every device can
/// have a whole processor.
std::string fewer_threads(double processors, const ProcessorUse& use) {
  const int threads = use.devices == 0 ? 0 : static_cast<int>(processors) / use.devices;
  return threads >= 1
             ? fmt::format(" Alternatively, use fewer threads (--num_intra_threads={}).", threads)
             : "";
}

void warn_of_neighbours(std::vector<std::string>& out, const ProcessorTimes& before,
                        const ProcessorTimes& after, const ProcessorUse& use) {
  // Less than this is a machine's ordinary background activity.
  constexpr double kTolerated = 0.25;
  if (use.other_ranks) return;
  const double others = busy_with_others(before, after);
  if (others < kTolerated || others + use.processors <= after.online) return;
  // Use whole processors, because each part of a step waits for its last thread.
  const double left = after.online - std::ceil(others);
  out.push_back(
      fmt::format("other work keeps about {:.1f} of {} processors busy, and bench uses {}. "
                  "Results will be low and unsteady. Stop the other work.{}",
                  others, after.online, use.processors, fewer_threads(left, use)));
}

void warn_of_steal(std::vector<std::string>& out, const ProcessorTimes& before,
                   const ProcessorTimes& after) {
  constexpr double kTolerated = 0.01;
  const double share = steal_share(before, after);
  if (share > kTolerated) {
    out.push_back(fmt::format(
        "the hypervisor gives {:.1f} % of the processor time to other machines (steal): use a "
        "dedicated host, or repeat the run when the host is quiet",
        100 * share));
  }
}

void warn_of_governors(std::vector<std::string>& out, const std::map<int, std::string>& governors) {
  std::map<std::string, int> counts;
  for (const auto& [processor, governor] : governors) {
    if (governor != "performance") ++counts[governor];
  }
  for (const auto& [governor, count] : counts) {
    out.push_back(
        fmt::format("the frequency governor of {} of {} processors is '{}', so their clock may "
                    "change during the run; as root: cpupower frequency-set -g performance",
                    count, governors.size(), governor));
  }
}

void warn_of_quota(std::vector<std::string>& out, const std::optional<CpuQuota>& quota,
                   const ProcessorUse& use) {
  if (!quota || quota->processors >= use.processors) return;
  out.push_back(fmt::format(
      "the cgroup's CPU quota is {:.2f} processors ({}), but bench uses {}. The kernel will "
      "throttle it in every period. Raise the quota.{}",
      quota->processors, quota->file, use.processors, fewer_threads(quota->processors, use)));
}

}  // namespace

Captured<ProcessorTimes> read_processor_times(const SystemFiles& files) {
  const Captured<std::string> text = files.read("/proc/stat");
  if (!text.known()) return Unknown{text.why()};
  ProcessorTimes out;
  bool found = false;
  for (const std::string& line : lines_of(text.value())) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2) continue;
    // proc(5): user nice system idle iowait irq softirq steal; guest time is within user time.
    if (words[0] == "cpu" && words.size() >= 9) {
      std::array<std::int64_t, 8> ticks{};
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        ticks[i] = parse_integer(words[i + 1]).value_or(0);
      }
      out.busy_ticks = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
      out.idle_ticks = ticks[3] + ticks[4];
      out.steal_ticks = ticks[7];
      found = true;
    } else if (words[0].starts_with("cpu")) {
      ++out.online;
    } else if (words[0] == "procs_running") {
      out.procs_running = static_cast<int>(parse_integer(words[1]).value_or(0));
    }
  }
  if (!found) return Unknown{"/proc/stat has no line of processor times"};
  out.own_ticks = own_ticks(files);
  return out;
}

double used_by_others(const ProcessorTimes& before, const ProcessorTimes& after) {
  const auto busy = static_cast<double>(after.busy_ticks - before.busy_ticks -
                                        (after.own_ticks - before.own_ticks));
  const auto total =
      static_cast<double>((after.busy_ticks + after.idle_ticks + after.steal_ticks) -
                          (before.busy_ticks + before.idle_ticks + before.steal_ticks));
  return total > 0 ? std::max(0.0, busy / total * after.online) : 0;
}

double steal_share(const ProcessorTimes& before, const ProcessorTimes& after) {
  const std::int64_t steal = after.steal_ticks - before.steal_ticks;
  const std::int64_t rest =
      (after.busy_ticks + after.idle_ticks) - (before.busy_ticks + before.idle_ticks);
  // The kernel's counters can decrease by a tick, which does not count.
  if (steal <= 0 || rest + steal <= 0) return 0;
  return std::min(1.0, static_cast<double>(steal) / static_cast<double>(steal + rest));
}

EnvironmentSnapshot read_environment(const SystemFiles& files, std::span<const int> processors) {
  EnvironmentSnapshot out{
      .times = read_processor_times(files), .governors = {}, .quota = cgroup_cpu_quota(files)};
  for (const int processor : processors) {
    const Captured<std::string> governor = files.read(
        fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", processor));
    if (governor.known()) out.governors[processor] = governor.value();
  }
  return out;
}

std::vector<std::string> environment_warnings(const EnvironmentSnapshot& before,
                                              const EnvironmentSnapshot& after,
                                              const ProcessorUse& use) {
  std::vector<std::string> out;
  if (before.times.known() && after.times.known()) {
    warn_of_neighbours(out, before.times.value(), after.times.value(), use);
    warn_of_steal(out, before.times.value(), after.times.value());
  }
  warn_of_governors(out, after.governors);
  warn_of_quota(out, after.quota, use);
  return out;
}

void add_losses(results::Record& record, const Captured<ProcessorTimes>& before,
                const SystemFiles& files) {
  const Captured<ProcessorTimes> after = read_processor_times(files);
  for (const auto* times : {&before, &after}) {
    if (!times->known()) {
      record.load.steal_share = Unknown{times->why()};
      record.load.lacking_processors = Unknown{times->why()};
      return;
    }
  }
  record.load.steal_share = steal_share(before.value(), after.value());
  if (record.workload.processes > 1) {
    record.load.lacking_processors = Unknown{"the run's other processes compute, too"};
    return;
  }
  if (!record.cpu.processors_used.known()) {
    record.load.lacking_processors = Unknown{record.cpu.processors_used.why()};
    return;
  }
  const double others = used_by_others(before.value(), after.value());
  const auto used = static_cast<double>(record.cpu.processors_used.value().size());
  record.load.lacking_processors = std::clamp(others + used - after.value().online, 0.0, others);
}

}  // namespace bench

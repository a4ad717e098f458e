#include "results/environment/busy_processes.h"

#include <unistd.h>

#include <algorithm>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Parses a line of /proc/PID/stat (proc(5)). The name is in parentheses and may contain any
/// characters.
ProcessTimes::One parse_stat(const std::string& text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  const std::vector<std::string> words = words_of(text.substr(close + 1));
  constexpr std::size_t kUser = 11;  // The first word here is field 3.
  if (words.size() <= kUser + 1) return {};
  return {.name = text.substr(open + 1, close - open - 1),
          .ticks = parse_integer(words[kUser]).value_or(0) +
                   parse_integer(words[kUser + 1]).value_or(0)};
}

}  // namespace

Captured<ProcessTimes> read_process_times(const SystemFiles& files,
                                          const std::set<std::int64_t>& omitted) {
  const Captured<std::vector<std::string>> names = files.names_in("/proc");
  if (!names.known()) return Unknown{names.why()};
  const std::string self = words_of(files.read("/proc/self/stat").value_or("0 ")).front();
  ProcessTimes times;
  for (const std::string& name : names.value()) {
    const Captured<std::int64_t> pid = parse_integer(name);
    if (!pid.known() || name == self || omitted.contains(pid.value())) continue;
    // The process may have ended in the meantime.
    const Captured<std::string> stat = files.read(fmt::format("/proc/{}/stat", name));
    if (stat.known()) times.by_pid[pid.value()] = parse_stat(stat.value());
  }
  return times;
}

Captured<std::vector<results::BusyProcess>> busiest(const Captured<ProcessTimes>& before,
                                                    const Captured<ProcessTimes>& after,
                                                    std::chrono::nanoseconds elapsed) {
  for (const auto* times : {&before, &after}) {
    if (!times->known()) return Unknown{times->why()};
  }
  const double seconds = std::chrono::duration<double>(elapsed).count();
  if (seconds <= 0) return Unknown{"no time passed between two readings of /proc"};
  constexpr double kLeast = 0.01;
  constexpr std::size_t kShown = 3;
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::vector<results::BusyProcess> busy;
  for (const auto& [pid, now] : after.value().by_pid) {
    const auto then = before.value().by_pid.find(pid);
    const bool same = then != before.value().by_pid.end() && then->second.ticks <= now.ticks;
    const auto ticks = static_cast<double>(now.ticks - (same ? then->second.ticks : 0));
    const double processors = ticks / ticks_per_second / seconds;
    if (processors >= kLeast) busy.push_back({.name = now.name, .processors = processors});
  }
  std::stable_sort(busy.begin(), busy.end(),
                   [](const auto& a, const auto& b) { return a.processors > b.processors; });
  busy.resize(std::min(busy.size(), kShown));
  return busy;
}

}  // namespace bench

#include "results/store/disturbance.h"

#include <algorithm>

#include "results/record/quality_score.h"
#include "results/store/members.h"

namespace bench::results {
namespace {

using nlohmann::json;

/// The number at a path of the record; 0 if it is unknown.
double number_or_0(const json& record, const char* path) {
  const json* value = member_at(record, path);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

double processors_of_others(const json& record) {
  const json* busy = member_at(record, "load.busy_processes");
  double processors = 0;
  if (busy != nullptr && busy->is_array()) {
    for (const json& process : *busy) processors += number_or_0(process, "processors");
  }
  const json* used = member_at(record, "cpu.processors_used");
  const auto most = kToleratedShare * static_cast<double>(used == nullptr ? 0 : used->size());
  const double lacking = number_or_0(record, "load.lacking_processors");
  return lacking > most ? std::max(processors, lacking) : processors;
}

StepStatistics step_times_of(const json& record) {
  StepStatistics times;
  const json* metrics = member_at(record, "metrics");
  if (metrics == nullptr || !metrics->is_array()) return times;
  for (const json& metric : *metrics) {
    const std::string name = text_at(metric, "name");
    const double value = number_or_0(metric, "value");
    if (name == "step_time.n") times.steps = value;
    if (name == "step_time.mean") times.mean = value;
    if (name == "step_time.median") times.median = value;
    if (name == "step_time.max") times.longest = value;
  }
  return times;
}

}  // namespace

std::vector<std::string> disturbances_of(const json& record) {
  std::vector<std::string> causes;
  if (processors_of_others(record) > kToleratedProcessors) {
    causes.emplace_back("other programs used the processors");
  }
  if (number_or_0(record, "load.steal_share") > kToleratedSteal) {
    causes.emplace_back("the hypervisor took processor time (steal)");
  }
  if (number_or_0(record, "load.cgroup_throttling.periods") > 0) {
    causes.emplace_back("the cgroup throttled the run");
  }
  if (step_times_of(record).one_stood_still()) {
    causes.emplace_back("one step took many times the median");
  }
  if (text_at(record, "quality.verdict") == "INVALID") {
    causes.emplace_back("the GPU's verdict is INVALID");
  }
  return causes;
}

bool DisturbedRuns::too_many() const {
  if (disturbed == 0) return false;
  return 2 * disturbed >= runs || (disturbed > 1 && 10 * disturbed > runs);
}

DisturbedRuns disturbed_runs(std::span<const StoredRun* const> runs) {
  const auto disturbed = std::count_if(runs.begin(), runs.end(), [](const StoredRun* run) {
    return !disturbances_of(run->record).empty();
  });
  return {.runs = runs.size(), .disturbed = static_cast<std::size_t>(disturbed)};
}

}  // namespace bench::results

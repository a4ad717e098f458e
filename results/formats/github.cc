#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"
#include "results/record/statistics.h"

/// customBiggerIsBetter of benchmark-action/github-action-benchmark: a list of name, unit and
/// value, with range and extra as texts. Repeats of one workload on one machine are one entry,
/// their median.
namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;

Outputs write_github(std::span<const StoredRun> runs) {
  std::map<std::pair<std::string, std::string>, std::vector<const StoredRun*>> groups;
  for (const StoredRun& run : runs) groups[{run.workload, run.machine}].push_back(&run);
  Ordered list = Ordered::array();
  for (const auto& [names, members] : groups) {
    std::vector<double> speeds;
    std::string ids;
    std::string unit;
    for (const StoredRun* run : members) {
      const auto speed = metric_value(*run, speed_metric(*run));
      if (!speed) continue;
      speeds.push_back(*speed);
      unit = run->metrics.at(speed_metric(*run)).unit;
      if (!ids.empty()) ids += " ";
      ids += run->record_id;
    }
    if (speeds.empty()) continue;
    std::sort(speeds.begin(), speeds.end());
    Ordered entry = {{"name", fmt::format("{} on {}", names.first, names.second)},
                     {"unit", unit},
                     {"value", quantile(speeds, 0.5)}};
    if (speeds.size() > 1) {
      entry["range"] =
          fmt::format("{} to {}", Ordered(speeds.front()).dump(), Ordered(speeds.back()).dump());
    }
    entry["extra"] =
        speeds.size() == 1 ? "1 run: " + ids : fmt::format("{} runs: {}", speeds.size(), ids);
    list.push_back(entry);
  }
  return {{.name = "github.json",
           .contents = list.dump(2, ' ', true, Ordered::error_handler_t::replace) + "\n"}};
}

}  // namespace

Format github_format() {
  return {.name = "github",
          .what = "customBiggerIsBetter of github-action-benchmark",
          .write = write_github,
          .holds_failures = false};
}

}  // namespace bench::results

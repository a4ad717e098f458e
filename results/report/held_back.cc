#include "results/report/held_back.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/page/markup.h"
#include "results/record/statistics.h"
#include "results/report/disturbed.h"

namespace bench::results {
namespace {

using Runs = std::span<const StoredRun* const>;

/// The fraction of the time that steps waited for input; median over the runs.
std::optional<double> input_share(Runs runs) {
  std::vector<double> shares;
  for (const StoredRun* run : runs) {
    if (const auto share = metric_value(*run, "input_wait_share")) shares.push_back(*share);
  }
  if (shares.empty()) return std::nullopt;
  return median(shares);
}

/// The number of runs in which something other than the workload took the machine's time.
std::size_t disturbed_runs(Runs runs) {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [](const StoredRun* run) { return is_disturbed(*run); }));
}

/// The device, and its arithmetic or memory if the roof is known.
std::string device_text(Runs runs) {
  std::vector<double> shares;
  for (const StoredRun* run : runs) {
    if (const auto share = number_field(run->record, "roof.arithmetic_share")) {
      shares.push_back(*share);
    }
  }
  if (shares.empty()) return "device";
  const double share = median(shares);
  if (share >= 0.5) {
    return fmt::format("device arithmetic: {}% of the minimum time", short_number(100 * share));
  }
  return fmt::format("device memory: {}% of the minimum time", short_number(100 * (1 - share)));
}

}  // namespace

std::string held_back_by(std::span<const StoredRun* const> runs) {
  constexpr double kInputBound = 0.1;
  const auto share = input_share(runs);
  std::string text =
      share && *share > kInputBound
          ? fmt::format("input: steps waited {}% of the time", short_number(100 * *share))
          : device_text(runs);
  if (const std::size_t disturbed = disturbed_runs(runs); disturbed > 0) {
    text += fmt::format("; other programs disturbed {} of {} runs", disturbed, runs.size());
  }
  return text;
}

}  // namespace bench::results

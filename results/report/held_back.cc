#include "results/report/held_back.h"

#include <optional>
#include <vector>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/page/markup.h"
#include "results/record/statistics.h"
#include "results/store/disturbance.h"

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
  if (const DisturbedRuns found = disturbed_runs(runs); found.disturbed > 0) {
    text += fmt::format("; disturbed runs: {} of {}", found.disturbed, found.runs);
  }
  return text;
}

}  // namespace bench::results

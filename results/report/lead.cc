#include "results/report/lead.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/record/statistics.h"
#include "results/stats/mann_whitney.h"

namespace bench::results {
namespace {

/// Undisturbed runs in every cell.
constexpr std::size_t kRunsForCertain = 6;

/// Subtracted from the logarithm of the speed, so that a higher result is a lower cost.
double log_price(const ReportSystem& system, Measure measure) {
  return measure == Measure::kSpeed ? 0 : std::log(cost_per_hour(*system.price));
}

/// Logarithms of the results of the runs of one system on one workload.
std::vector<double> log_results(const ReportData& data, std::size_t row, std::size_t system,
                                Measure measure) {
  std::vector<double> out;
  for (const double speed : data.rows[row].cells[system].speeds) {
    out.push_back(std::log(speed) - log_price(data.systems[system], measure));
  }
  return out;
}

/// The systems that ran one of the workloads, with a price if the cost is compared.
std::vector<std::size_t> candidates_of(const ReportData& data, const std::vector<std::size_t>& rows,
                                       Measure measure) {
  std::vector<std::size_t> systems;
  for (std::size_t i = 0; i < data.systems.size(); ++i) {
    const bool ran = std::any_of(rows.begin(), rows.end(),
                                 [&](std::size_t row) { return !data.rows[row].cells[i].empty(); });
    if (ran && (measure == Measure::kSpeed || data.systems[i].price)) {
      systems.push_back(i);
    }
  }
  return systems;
}

/// `other` relative to `base` over the lead's workloads.
stats::Shift shift_of(const ReportData& data, const Lead& lead, std::size_t base, std::size_t other,
                      Measure measure, double alpha) {
  if (lead.rows.size() == 1) {
    return stats::hodges_lehmann(log_results(data, lead.rows.front(), base, measure),
                                 log_results(data, lead.rows.front(), other, measure), alpha);
  }
  std::vector<stats::ModelRuns> workloads;
  std::string seed;
  for (const std::size_t row : lead.rows) {
    workloads.push_back({.reference = log_results(data, row, base, measure),
                         .other = log_results(data, row, other, measure)});
    seed += data.rows[row].key;
  }
  const stats::GeometricMean mean = stats::geometric_mean(
      workloads,
      {.alpha = alpha, .seed = hash_name(seed + data.systems[base].key + data.systems[other].key)});
  return {.estimate = mean.log_ratio, .interval = mean.interval};
}

bool allows_certain(const ReportData& data, const Lead& lead, std::size_t system) {
  return std::all_of(lead.rows.begin(), lead.rows.end(), [&](std::size_t row) {
    const ReportCell& cell = data.rows[row].cells[system];
    const std::size_t undisturbed = cell.runs.size() - cell.disturbed.disturbed;
    return undisturbed >= kRunsForCertain && !cell.disturbed.too_many();
  });
}

/// True if disturbances may explain the lead: in half of the workloads, too many runs of the best
/// or of `other` were disturbed.
bool may_be_disturbance(const ReportData& data, const Lead& lead, std::size_t other) {
  const auto disturbed = std::count_if(lead.rows.begin(), lead.rows.end(), [&](std::size_t row) {
    const std::vector<ReportCell>& cells = data.rows[row].cells;
    return cells[lead.best].disturbed.too_many() || cells[other].disturbed.too_many();
  });
  return 2 * static_cast<std::size_t>(disturbed) >= lead.rows.size();
}

/// How sure it is that the best is better than `other`.
Sure sure_of(const ReportData& data, const Lead& lead, std::size_t other, Measure measure) {
  const auto excludes_equality = [&](double alpha) {
    const stats::Shift shift = shift_of(data, lead, other, lead.best, measure, alpha);
    return shift.interval && shift.interval->low > 0;
  };
  const bool may_be_certain =
      allows_certain(data, lead, lead.best) && allows_certain(data, lead, other);
  if (may_be_certain && excludes_equality(0.01)) {
    return Sure::kCertain;
  }
  return excludes_equality(0.1) ? Sure::kProbably : Sure::kCannotTell;
}

/// Workloads that all candidates ran.
std::vector<std::size_t> common_rows(const ReportData& data, const std::vector<std::size_t>& rows,
                                     const std::vector<std::size_t>& candidates) {
  std::vector<std::size_t> common;
  for (const std::size_t row : rows) {
    if (std::none_of(candidates.begin(), candidates.end(),
                     [&](std::size_t system) { return data.rows[row].cells[system].empty(); })) {
      common.push_back(row);
    }
  }
  return common;
}

/// The lead if some candidates cost nothing.
bool take_free(const ReportData& data, const std::vector<std::size_t>& candidates, Lead& lead) {
  std::size_t count = 0;
  for (const std::size_t system : candidates) {
    if (cost_per_hour(*data.systems[system].price) == 0) {
      lead.best = count++ == 0 ? system : lead.best;
    }
  }
  if (count == 0) {
    return false;
  }
  if (count > 1) {
    lead.why_none = "Several systems are free.";
    return true;
  }
  lead.next = lead.best;
  lead.free = true;
  lead.sure = Sure::kCertain;
  return true;
}

}  // namespace

const char* sure_word(Sure sure) {
  switch (sure) {
    case Sure::kCertain:
      return "certain";
    case Sure::kProbably:
      return "probably";
    case Sure::kCannotTell:
      break;
  }
  return "cannot tell";
}

Lead lead_of(const ReportData& data, const std::vector<std::size_t>& rows, Measure measure) {
  Lead lead{.log_ratios = std::vector<std::optional<double>>(data.systems.size())};
  const std::vector<std::size_t> candidates = candidates_of(data, rows, measure);
  if (candidates.size() < 2) {
    lead.why_none = measure == Measure::kCost && data.systems.size() > 1
                        ? "Fewer than two systems have a price."
                        : "Only one system ran these workloads.";
    return lead;
  }
  lead.rows = common_rows(data, rows, candidates);
  if (lead.rows.empty()) {
    lead.why_none = "No workload ran on all systems.";
    return lead;
  }
  if (measure == Measure::kCost && take_free(data, candidates, lead)) {
    return lead;
  }
  std::vector<double> means(data.systems.size(), -std::numeric_limits<double>::infinity());
  for (const std::size_t system : candidates) {
    double sum = 0;
    for (const std::size_t row : lead.rows) {
      sum += median(log_results(data, row, system, measure));
    }
    means[system] = sum / static_cast<double>(lead.rows.size());
  }
  std::vector<std::size_t> order = candidates;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return means[a] > means[b]; });
  lead.best = order[0];
  lead.next = order[1];
  lead.sure = Sure::kCertain;
  for (const std::size_t system : order) {
    const double relative = means[system] - means[lead.best];
    lead.log_ratios[system] = measure == Measure::kSpeed ? relative : -relative;
    if (system != lead.best) {
      lead.sure = std::max(lead.sure, sure_of(data, lead, system, measure));
      lead.disturbed |= may_be_disturbance(data, lead, system);
    }
  }
  const stats::Shift shift = shift_of(data, lead, lead.next, lead.best, measure, 0.05);
  lead.log_ratio = shift.estimate;
  lead.interval = shift.interval;
  if (lead.log_ratio < std::log(kLeastLead) || lead.disturbed) {
    lead.sure = Sure::kCannotTell;
  }
  return lead;
}

}  // namespace bench::results

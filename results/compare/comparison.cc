#include "results/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/record/statistics.h"
#include "results/stats/mann_whitney.h"
#include "results/stats/multiplicity.h"
#include "results/stats/signed_rank.h"
#include "results/store/record_fields.h"

namespace bench::results {
namespace {

using stats::ChangeVerdict;

struct Side {
  std::vector<const StoredRun*> runs{};  ///< Those that have the metric.
  std::vector<double> values{};
  std::vector<std::string> groups{};  ///< The group of each value.
};

Side side_of(const std::vector<const StoredRun*>& runs, const std::string& metric) {
  Side side;
  for (const StoredRun* run : runs) {
    const auto found = run->metrics.find(metric);
    if (found == run->metrics.end()) continue;
    side.runs.push_back(run);
    side.values.push_back(found->second.value);
    side.groups.push_back(run->group_id);
  }
  return side;
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

/// The medians of the groups' logarithms, if there are three or more groups of three or more runs.
/// The groups are then the replicates. Otherwise empty.
std::vector<double> group_medians(const Side& side) {
  constexpr std::size_t kLeast = 3;
  std::map<std::string, std::vector<double>> groups;
  for (std::size_t i = 0; i < side.values.size(); ++i) {
    groups[side.groups[i]].push_back(std::log(side.values[i]));
  }
  std::size_t large = 0;
  std::vector<double> medians;
  for (const auto& [id, runs] : groups) {
    large += runs.size() >= kLeast ? 1 : 0;
    medians.push_back(median(runs));
  }
  return large >= kLeast ? medians : std::vector<double>();
}

/// The processor and the GPUs of each run, where they are known.
struct Hardware {
  std::set<std::string> processors{};
  std::set<std::string> gpus{};
};

Hardware hardware_of(const std::vector<const StoredRun*>& runs) {
  Hardware all;
  for (const StoredRun* run : runs) {
    std::string gpus;
    for (const auto& [path, value] : machine_fields(run->record)) {
      if (path == "cpu.model") all.processors.insert(value);
      if (path.starts_with("gpu.") && path.ends_with(".name")) gpus += value;
    }
    if (!gpus.empty()) all.gpus.insert(gpus);
  }
  return all;
}

/// True if both are known and have nothing in common.
bool differ(const std::set<std::string>& base, const std::set<std::string>& other) {
  return !base.empty() && !other.empty() &&
         std::none_of(base.begin(), base.end(),
                      [&](const std::string& one) { return other.count(one) > 0; });
}

bool have_other_hardware(const MatchedWorkload& work) {
  const Hardware base = hardware_of(work.base);
  const Hardware other = hardware_of(work.other);
  return differ(base.processors, other.processors) || differ(base.gpus, other.gpus);
}

/// Sets the row's statistics and its shift.
void hold_against_each_other(ComparisonRow& row, const Side& base, const Side& other,
                             const CompareOptions& options) {
  if (!all_positive(base.values) || !all_positive(other.values)) return;
  const std::vector<double> from = logarithms(base.values);
  const std::vector<double> to = logarithms(other.values);
  if (options.paired) {
    row.by = ComparedBy::kPairs;
    std::vector<double> differences;
    std::vector<double> in_order;
    for (std::size_t i = 0; i < from.size(); ++i) {
      differences.push_back(to[i] - from[i]);
      in_order.push_back((to[i] + from[i]) / 2);
    }
    row.shift = stats::paired_shift(differences, options.alpha);
    row.drift = stats::relative_change(stats::theil_sen_slope(in_order) / 2);
    return;
  }
  std::vector<double> from_groups = group_medians(base);
  std::vector<double> to_groups = group_medians(other);
  if (!from_groups.empty() && !to_groups.empty()) {
    row.by = ComparedBy::kNested;
    row.shift = stats::hodges_lehmann(from_groups, to_groups, options.alpha);
    row.base_groups = std::move(from_groups);
    row.other_groups = std::move(to_groups);
    return;
  }
  row.shift = stats::hodges_lehmann(from, to, options.alpha);
}

std::optional<ComparisonRow> row_of(const MatchedWorkload& work, const std::string& metric,
                                    const CompareOptions& options) {
  const Side base = side_of(work.base, metric);
  const Side other = side_of(work.other, metric);
  if (base.values.empty() || other.values.empty()) return std::nullopt;
  ComparisonRow row;
  row.workload = work.workload;
  if (!options.by.empty()) row.group = fields_text(*work.base.front(), options.by);
  row.metric = metric;
  for (const StoredRun* run : work.base) {
    const auto found = run->metrics.find(metric);
    if (found == run->metrics.end()) continue;
    row.unit = found->second.unit;
    row.better = found->second.better;
  }
  row.base_values = base.values;
  row.other_values = other.values;
  row.other_hardware = have_other_hardware(work);
  row.base_disturbed = disturbed_runs(base.runs);
  row.other_disturbed = disturbed_runs(other.runs);
  row.base = stats::group_summary(base.values, options.alpha);
  row.other = stats::group_summary(other.values, options.alpha);
  row.delta = stats::cliffs_delta(base.values, other.values);
  hold_against_each_other(row, base, other, options);
  return row;
}

std::set<std::string> names_where(const MatchedWorkload& work,
                                  bool (*wanted)(const StoredMetric&)) {
  std::set<std::string> names;
  for (const auto* side : {&work.base, &work.other}) {
    for (const StoredRun* run : *side) {
      for (const auto& [name, metric] : run->metrics) {
        if (wanted(metric)) names.insert(name);
      }
    }
  }
  return names;
}

bool is_exact(const StoredMetric& metric) { return metric.kind == Kind::kExact; }
bool is_noisy(const StoredMetric& metric) { return metric.kind == Kind::kNoisy; }
bool has_direction(const StoredMetric& metric) {
  return is_noisy(metric) && metric.better != Better::kNone;
}

std::set<std::string> metrics_of(const MatchedWorkload& work, const CompareOptions& options) {
  if (options.metrics == std::vector<std::string>{"all"}) return names_where(work, is_noisy);
  if (!options.metrics.empty()) return {options.metrics.begin(), options.metrics.end()};
  const std::set<std::string> all = names_where(work, is_noisy);
  std::set<std::string> speeds;
  for (const char* const speed : kSpeedMetrics) {
    if (all.contains(speed)) speeds.insert(speed);
  }
  if (!speeds.empty()) return speeds;
  return names_where(work, has_direction);
}

std::vector<double> distinct(const std::vector<double>& values) {
  const std::set<double> once(values.begin(), values.end());
  return {once.begin(), once.end()};
}

void add_exact(Comparison& comparison, const MatchedWorkload& work) {
  for (const std::string& metric : names_where(work, is_exact)) {
    ExactDifference one{.workload = work.workload,
                        .metric = metric,
                        .base = distinct(side_of(work.base, metric).values),
                        .other = distinct(side_of(work.other, metric).values)};
    if (one.base != one.other) comparison.exact.push_back(std::move(one));
  }
}

/// True if disturbances may explain the change. Pairs are equally disturbed by what lasts longer
/// than a pair, so only a difference between the sides counts there. Memory does not depend on it.
bool is_disturbed(const ComparisonRow& row, const CompareOptions& options) {
  if (options.trust_disturbed || row.unit == "bytes") return false;
  const std::size_t base = row.base_disturbed.disturbed;
  const std::size_t other = row.other_disturbed.disturbed;
  if (row.by == ComparedBy::kPairs) {
    return 2 * (std::max(base, other) - std::min(base, other)) > row.base_values.size();
  }
  return row.base_disturbed.too_many() || row.other_disturbed.too_many();
}

/// Geometric means of each metric, over the undisturbed rows of `group`, or over all of them if it
/// is empty.
void add_geomeans(Comparison& comparison, const std::string& group) {
  std::map<std::string, std::vector<stats::ModelRuns>> models;
  std::map<std::string, std::size_t> disturbed;
  for (const ComparisonRow& row : comparison.rows) {
    if (!row.shift || (!group.empty() && row.group != group)) continue;
    std::vector<stats::ModelRuns>& runs = models[row.metric];
    if (is_disturbed(row, comparison.options)) {
      ++disturbed[row.metric];
      continue;
    }
    runs.push_back(
        {.reference = logarithms(row.base_values), .other = logarithms(row.other_values)});
  }
  for (const auto& [metric, runs] : models) {
    const std::size_t all = runs.size() + disturbed[metric];
    if (runs.size() < 2) {
      if (all >= 2) {
        comparison.notes.push_back(
            fmt::format("{}{}: no geomean, because {} of {} workloads are disturbed",
                        group.empty() ? "" : group + ", ", metric, disturbed[metric], all));
      }
      continue;
    }
    comparison.geomeans.push_back(
        {.group = group,
         .metric = metric,
         .workloads = runs.size(),
         .disturbed = disturbed[metric],
         .mean = stats::geometric_mean(
             runs, {.alpha = comparison.options.alpha, .seed = hash_name(group + metric)})});
  }
}

/// Sorts the rows by group, and adds the groups' geometric means if there are several.
void put_into_groups(Comparison& comparison) {
  std::stable_sort(
      comparison.rows.begin(), comparison.rows.end(),
      [](const ComparisonRow& a, const ComparisonRow& b) { return a.group < b.group; });
  std::set<std::string> groups;
  for (const ComparisonRow& row : comparison.rows) groups.insert(row.group);
  if (groups.size() < 2) return;
  for (const std::string& group : groups) add_geomeans(comparison, group);
}

/// The runs that ended well; a note reports the others.
std::vector<StoredRun> usable(const ComparedSide& side, std::vector<std::string>& notes) {
  std::map<std::string, std::size_t> left_out;
  std::vector<StoredRun> runs;
  for (const StoredRun& run : side.runs) {
    if (run.status == "ok") {
      runs.push_back(run);
    } else {
      ++left_out[run.status];
    }
  }
  for (const auto& [status, count] : left_out) {
    notes.push_back(
        count == 1
            ? fmt::format("{}: omitted 1 run with the status {}", side.name, status)
            : fmt::format("{}: omitted {} runs with the status {}", side.name, count, status));
  }
  if (runs.empty()) throw DataError(fmt::format("{}: no run has the status ok", side.name));
  return runs;
}

/// True if all runs of one side began before all of the other.
bool one_after_the_other(const std::vector<StoredRun>& base, const std::vector<StoredRun>& other) {
  const auto begin = [](const StoredRun& a, const StoredRun& b) { return a.start_ms < b.start_ms; };
  const auto [first, last] = std::minmax_element(base.begin(), base.end(), begin);
  const auto [other_first, other_last] = std::minmax_element(other.begin(), other.end(), begin);
  return last->start_ms < other_first->start_ms || other_last->start_ms < first->start_ms;
}

double spread_of(const ComparisonRow& row) {
  const bool nested = row.by == ComparedBy::kNested;
  const std::vector<double> from = nested ? row.base_groups : logarithms(row.base_values);
  const std::vector<double> to = nested ? row.other_groups : logarithms(row.other_values);
  if (row.by == ComparedBy::kPairs) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < from.size(); ++i) differences.push_back(to[i] - from[i]);
    return stats::sample_stddev(differences);
  }
  const double a = stats::sample_stddev(from);
  const double b = stats::sample_stddev(to);
  const auto m = static_cast<double>(from.size() - 1);
  const auto n = static_cast<double>(to.size() - 1);
  return m + n > 0 ? std::sqrt((m * a * a + n * b * b) / (m + n)) : 0;
}

void settle(ComparisonRow& row, const CompareOptions& options, std::size_t rows) {
  if (!row.shift) return;
  row.verdict = stats::judge(*row.shift, {.margin = options.margin, .better = row.better});
  const bool change =
      row.verdict != ChangeVerdict::kEquivalent && row.verdict != ChangeVerdict::kInconclusive;
  row.uncorrected = change && row.q > options.alpha;
  if (row.uncorrected) row.verdict = ChangeVerdict::kInconclusive;
  const bool judged = row.verdict == ChangeVerdict::kRegressed ||  //
                      row.verdict == ChangeVerdict::kImproved;
  if (judged && row.other_hardware) row.verdict = ChangeVerdict::kChanged;
  row.needed.reset();
  row.least.reset();
  if (is_disturbed(row, options)) {
    row.verdict = ChangeVerdict::kDisturbed;
    return;
  }
  if (!row.shift->interval) {
    row.least = stats::least_runs(options.alpha, row.by == ComparedBy::kPairs);
  }
  // One run on each side shows no spread, so the number of runs needed is unknown.
  const bool told = row.base_values.size() + row.other_values.size() > 2;
  if (row.verdict == ChangeVerdict::kInconclusive && options.margin > 0 && told) {
    const double alpha =
        row.uncorrected ? options.alpha / static_cast<double>(rows) : options.alpha;
    row.needed = stats::runs_needed({.spread = spread_of(row),
                                     .margin = options.margin,
                                     .alpha = alpha,
                                     .paired = row.by == ComparedBy::kPairs});
  }
}

}  // namespace

void correct_rows(std::span<Comparison> comparisons) {
  std::vector<double> p;
  for (const Comparison& comparison : comparisons) {
    for (const ComparisonRow& row : comparison.rows) {
      if (row.shift) p.push_back(row.shift->p);
    }
  }
  if (comparisons.empty()) return;
  const bool family_wise = comparisons.front().options.family_wise;
  const std::vector<double> q = family_wise ? stats::holm(p) : stats::benjamini_hochberg(p);
  std::size_t next = 0;
  for (Comparison& comparison : comparisons) {
    for (ComparisonRow& row : comparison.rows) {
      if (row.shift) row.q = q[next++];
      settle(row, comparison.options, p.size());
    }
  }
}

Comparison compare(const ComparedSide& base, const ComparedSide& other,
                   const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  comparison.base_name = base.name;
  comparison.other_name = other.name;
  const std::vector<StoredRun> ours = usable(base, comparison.notes);
  const std::vector<StoredRun> theirs = usable(other, comparison.notes);
  comparison.base_runs = ours.size();
  comparison.other_runs = theirs.size();
  // A run without its partner cannot be paired.
  comparison.options.paired = options.paired && ours.size() == base.runs.size() &&
                              theirs.size() == other.runs.size() && ours.size() == theirs.size();
  const Matching matching = match_workloads(ours, theirs, options.ignored);
  comparison.only_base = matching.only_base;
  comparison.notes.insert(comparison.notes.end(), matching.unmatched.begin(),
                          matching.unmatched.end());
  std::vector<const StoredRun*> compared_base;
  std::vector<const StoredRun*> compared_other;
  for (const MatchedWorkload& work : matching.workloads) {
    compared_base.insert(compared_base.end(), work.base.begin(), work.base.end());
    compared_other.insert(compared_other.end(), work.other.begin(), work.other.end());
    for (const std::string& metric : metrics_of(work, options)) {
      const bool paired = comparison.options.paired;
      const MatchedWorkload shown = paired ? whole_pairs(work, metric, ours, theirs) : work;
      if (auto row = row_of(shown, metric, comparison.options)) {
        comparison.rows.push_back(std::move(*row));
      } else {
        comparison.notes.push_back(fmt::format(
            "{}: omitted {}, because {}", work.workload, metric,
            paired ? "no pair has values of it on both sides" : "one side has no values of it"));
      }
      const std::size_t most = std::max(work.base.size(), work.other.size());
      if (!shown.base.empty() && paired && shown.base.size() < most) {
        comparison.notes.push_back(
            fmt::format("{}: {} of {} pairs have this workload and {} on both sides", work.workload,
                        shown.base.size(), most, metric));
      }
    }
    add_exact(comparison, work);
  }
  if (comparison.rows.empty()) {
    if (options.metrics.empty()) {
      throw DataError(
          "the two sides have no metric in common; `bench_results show ID` lists the metrics of a "
          "run");
    }
    throw DataError(
        fmt::format("--metric={}: no workload has values of this metric on both sides; "
                    "`bench_results show ID` lists the metrics of a run",
                    options.metrics.front()));
  }
  comparison.environment = environment_differences(compared_base, compared_other);
  comparison.base_quality = quality_notes(compared_base);
  comparison.other_quality = quality_notes(compared_other);
  put_into_groups(comparison);
  add_geomeans(comparison, "");
  correct_rows(std::span(&comparison, 1));
  const bool changed =
      std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparisonRow& row) {
        return row.by == ComparedBy::kGroups && (row.verdict == ChangeVerdict::kRegressed ||
                                                 row.verdict == ChangeVerdict::kImproved);
      });
  if (changed && one_after_the_other(ours, theirs)) {
    comparison.notes.emplace_back(
        "one side was measured after the other, so the machine may have changed in between; "
        "compare --run excludes this");
  }
  return comparison;
}

bool is_undecided(const ComparisonRow& row) {
  return row.verdict == ChangeVerdict::kInconclusive || row.verdict == ChangeVerdict::kDisturbed ||
         (row.verdict == ChangeVerdict::kChanged && row.other_hardware);
}

int exit_status(std::span<const Comparison> comparisons, bool strict) {
  constexpr int kInconclusive = 4;
  bool open = false;
  for (const Comparison& comparison : comparisons) {
    open = open || !comparison.only_base.empty();
    for (const ComparisonRow& row : comparison.rows) {
      if (row.verdict == ChangeVerdict::kRegressed) return 1;
      open = open || is_undecided(row);
    }
  }
  return strict && open ? kInconclusive : 0;
}

}  // namespace bench::results

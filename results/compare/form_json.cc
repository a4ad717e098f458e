#include "models/base/errors.h"
#include "results/compare/forms.h"

namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;

std::string_view name_of(ComparedBy by) {
  switch (by) {
    case ComparedBy::kGroups:
      return "mann_whitney";
    case ComparedBy::kPairs:
      return "signed_rank";
    case ComparedBy::kNested:
      return "mann_whitney_of_groups";
  }
  throw InternalError("unknown kind of comparison");
}

std::string_view direction_of(Better better) {
  return better == Better::kHigher ? "higher" : better == Better::kLower ? "lower" : "none";
}

Ordered interval_json(const std::optional<stats::Interval>& interval) {
  if (!interval) return nullptr;
  return Ordered{interval->low, interval->high};
}

Ordered side_json(const stats::GroupSummary& summary, const std::vector<double>& values) {
  return {{"n", summary.n},
          {"median", summary.median},
          {"interval", interval_json(summary.interval)},
          {"min", summary.min},
          {"max", summary.max},
          {"mad", summary.mad},
          {"cv", summary.cv ? Ordered(*summary.cv) : Ordered(nullptr)},
          {"values", values}};
}

Ordered row_json(const ComparisonRow& row) {
  Ordered json = {{"workload", row.workload},
                  {"group", row.group},
                  {"metric", row.metric},
                  {"unit", row.unit},
                  {"better", direction_of(row.better)},
                  {"base", side_json(row.base, row.base_values)},
                  {"new", side_json(row.other, row.other_values)}};
  json["disturbed_runs"] = {{"base", row.base_disturbed.disturbed},
                            {"new", row.other_disturbed.disturbed}};
  json["other_hardware"] = row.other_hardware;
  if (!row.shift) {
    json["why_not_compared"] = "a ratio needs positive values";
    return json;
  }
  json["by"] = name_of(row.by);
  json["change"] = stats::relative_change(row.shift->estimate);
  json["interval"] = row.shift->interval
                         ? interval_json(stats::relative_change(*row.shift->interval))
                         : Ordered(nullptr);
  json["p"] = row.shift->p;
  json["q"] = row.q;
  json["cliffs_delta"] = row.delta;
  json["verdict"] = stats::name_of(row.verdict);
  json["taken_back_by_correction"] = row.uncorrected;
  json["runs_needed"] = row.needed ? Ordered(*row.needed) : Ordered(nullptr);
  json["drift_per_run"] = row.drift ? Ordered(*row.drift) : Ordered(nullptr);
  return json;
}

Ordered comparison_json(const Comparison& comparison) {
  Ordered json = {{"base", comparison.base_name},
                  {"new", comparison.other_name},
                  {"min_effect", comparison.options.margin},
                  {"alpha", comparison.options.alpha},
                  {"correction", comparison.options.family_wise ? "holm" : "benjamini_hochberg"},
                  {"ignored", comparison.options.ignored},
                  {"by", comparison.options.by},
                  {"trust_disturbed", comparison.options.trust_disturbed}};
  for (const char* list : {"rows", "exact", "geomean", "environment"})
    json[list] = Ordered::array();
  for (const ComparisonRow& row : comparison.rows) json["rows"].push_back(row_json(row));
  for (const ExactDifference& one : comparison.exact) {
    json["exact"].push_back({{"workload", one.workload},
                             {"metric", one.metric},
                             {"base", one.base},
                             {"new", one.other}});
  }
  for (const GeomeanRow& row : comparison.geomeans) {
    json["geomean"].push_back(
        {{"group", row.group},
         {"metric", row.metric},
         {"workloads", row.workloads},
         {"disturbed_workloads", row.disturbed},
         {"change", stats::relative_change(row.mean.log_ratio)},
         {"interval", row.mean.interval ? interval_json(stats::relative_change(*row.mean.interval))
                                        : Ordered(nullptr)}});
  }
  for (const EnvironmentDifference& one : comparison.environment) {
    json["environment"].push_back({{"field", one.field}, {"base", one.base}, {"new", one.other}});
  }
  json["quality"] = {{"base", comparison.base_quality}, {"new", comparison.other_quality}};
  json["notes"] = comparison.notes;
  return json;
}

}  // namespace

Ordered comparisons_json(std::span<const Comparison> comparisons) {
  Ordered json = {{"schema", "bench.compare/2"}, {"comparisons", Ordered::array()}};
  for (const Comparison& comparison : comparisons) {
    json["comparisons"].push_back(comparison_json(comparison));
  }
  return json;
}

void print_json(std::ostream& out, std::span<const Comparison> comparisons) {
  out << comparisons_json(comparisons).dump(1, ' ', false, Ordered::error_handler_t::replace)
      << "\n";
}

}  // namespace bench::results

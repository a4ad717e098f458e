#include "results/record/record_table.h"

#include <algorithm>
#include <array>

namespace bench::results {

std::span<const RecordField> record_fields() {
#define BENCH_FIELD(path, type, unit, meaning) {path, type, unit, meaning},
  static constexpr auto kFields = std::to_array<RecordField>({
#include "results/record/run_fields.inc"
// The fields of the machine follow.
#include "results/record/machine_fields.inc"
  });
#undef BENCH_FIELD
  return kFields;
}

std::span<const MetricRow> metric_rows() {
#define BENCH_METRIC(name, unit, better, kind, scope, meaning) \
  {name, unit, Better::better, Kind::kind, Scope::scope, meaning},
  static constexpr auto kRows = std::to_array<MetricRow>({
#include "results/record/metrics.inc"
  });
#undef BENCH_METRIC
  return kRows;
}

const MetricRow* find_metric_row(std::string_view name) {
  const auto rows = metric_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const MetricRow& each) {
    const std::size_t open = each.name.find('<');
    return open == each.name.npos ? name == each.name : name.starts_with(each.name.substr(0, open));
  });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace bench::results

#include "results/record/record_table.h"

#include <algorithm>
#include <array>

namespace bench::results {

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

#pragma once

#include <span>
#include <string_view>

#include "results/record/record.h"

namespace bench::results {

/// A metric of a run: a row of metrics.inc.
struct MetricRow {
  std::string_view name;  ///< "<region>" at its end is any text.
  std::string_view unit;
  Better better;
  Kind kind;
  Scope scope;
  std::string_view meaning;  ///< At most 150 characters.
};

/// All metrics, in the order of the record.
std::span<const MetricRow> metric_rows();

/// The row of the metric called `name`; nullptr for other names.
const MetricRow* find_metric_row(std::string_view name);

}  // namespace bench::results

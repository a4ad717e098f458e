#pragma once

#include <span>
#include <string_view>

#include "results/record/record.h"

namespace bench::results {

/// A field of the record: a row of run_fields.inc or machine_fields.inc.
struct RecordField {
  /// Such as "gpu[].name": [] is an item of a list, * any name.
  std::string_view path;
  /// In words, such as "list of strings or null" or "optional object". An optional field may be
  /// absent. A "value" is a boolean, number, string or null. A "spread" has mean, min and max.
  std::string_view type;
  std::string_view unit;     ///< A unit, a format, or all possible words separated by |.
  std::string_view meaning;  ///< At most 150 characters.
};

/// A metric of a run: a row of metrics.inc.
struct MetricRow {
  std::string_view name;  ///< "<region>" at its end is any text.
  std::string_view unit;
  Better better;
  Kind kind;
  Scope scope;
  std::string_view meaning;  ///< At most 150 characters.
};

/// All fields. Those of one member are neighbours.
std::span<const RecordField> record_fields();

/// All metrics, in the order of the record.
std::span<const MetricRow> metric_rows();

/// The row of the metric called `name`; nullptr for other names.
const MetricRow* find_metric_row(std::string_view name);

}  // namespace bench::results

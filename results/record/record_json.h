#pragma once

#include <string>

#include "results/record/record.h"

namespace bench::results {

/// The record as one JSON object, indented, with keys in the schema's order and a final newline. It
/// contains:
/// - `record_id`: the first 16 hexadecimal digits of a SHA-256. The hash covers the compact JSON
///   with sorted keys, without `record_id`.
/// - `capture_errors`: the path of each null (`cpu.governor`) and its reason. A list item appears
///   by index (`build.libs.2.version`), a metric by its name (`metrics.peak_rss.value`).
/// A number that is not finite becomes null with that reason. Bytes that are not UTF-8 become
/// U+FFFD.
std::string record_json(const Record& record);

}  // namespace bench::results

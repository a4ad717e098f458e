#pragma once

#include <string>

#include "results/record.h"

namespace bench::results {

/// The record as one JSON object, indented, keys in the schema's order, a final newline. Holds, as
/// the schema asks:
/// - `record_id`: the first 16 hexadecimal digits of the SHA-256 of the compact JSON with sorted
///   keys and without `record_id` itself;
/// - `capture_errors`: for each null its path (`cpu.governor`; in a list by index,
///   `build.libs.2.version`, but a metric by its name, `metrics.peak_rss.value`) and the reason.
/// A number that is not finite becomes null with that reason; bytes that are not UTF-8 become
/// U+FFFD.
std::string record_json(const Record& record);

}  // namespace bench::results

#pragma once

#include <iosfwd>
#include <optional>

#include "bench/loop/session.h"
#include "pipeline/input_bound.h"

namespace bench {

/// The measured steps of this process as an interval of the input. Nothing for synthetic images,
/// and without completed steps.
std::optional<InputInterval> input_interval(const RunSettings& settings,
                                            const SessionResult& session);

/// True if --input_transfer=uint8 would make the images smaller.
bool could_send_pixels(const RunSettings& settings);

/// Prints the sentence about what limits the run; nothing without an interval.
void print_input_bound(const RunSettings& settings, const SessionResult& session,
                       std::ostream& err);

/// Warns of skipped bad records, if any.
void warn_of_bad_records(const BadRecordCounts& counts, std::ostream& err);

/// Prints a table of the input's threads and stages; nothing without an interval.
void print_input_times(const RunSettings& settings, const SessionResult& session,
                       std::ostream& out);

}  // namespace bench

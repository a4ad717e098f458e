#pragma once

#include <iosfwd>
#include <optional>

#include "bench/loop/session.h"
#include "pipeline/input_bound.h"

namespace bench {

/// The measured steps as an interval of the input. Nothing for synthetic images, and without
/// completed steps.
std::optional<InputInterval> input_interval(const SessionResult& session, int processors = 1);

/// Prints the sentence about what limits the input; nothing without an interval.
void print_input_bound(const SessionResult& session, int processors, std::ostream& err);

/// Prints a table of the input's threads and stages; nothing without an interval.
void print_input_times(const SessionResult& session, std::ostream& out);

}  // namespace bench

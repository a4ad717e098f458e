#pragma once

#include <iosfwd>

#include "bench/loop/session.h"
#include "results/record.h"

namespace bench {

/// Holds what the steps took the device by its own clock against the host's: a warning where the
/// device was at no step's work for more than 10 % of the steps' time beside what they waited for
/// input, and a reason of INVALID where it was at work for more than 1 % longer than the steps
/// took, which cannot be. Nothing where the device computes in the host's memory.
void judge_device_times(const SessionResult& session, results::Quality& quality);

/// Prints a line of both clocks; nothing where there is one, or where no step was completed.
void print_device_times(const SessionResult& session, std::ostream& out);

}  // namespace bench

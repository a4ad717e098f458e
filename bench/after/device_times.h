#pragma once

#include <chrono>
#include <iosfwd>

#include "bench/loop/session.h"
#include "results/record.h"

namespace bench {

/// By how much the measured steps became longer for want of a batch. Where batches are brought
/// while the device computes the host waits beside it: then it is at most what lies beside the
/// device's time.
std::chrono::nanoseconds held_up_by_input(const SessionResult& session);

/// Of the measured steps, of which there are some, without that; in seconds.
double mean_step_without_input(const SessionResult& session);

/// Holds what the steps took the device by its own clock against the host's: a warning where the
/// device was between two steps for more than 10 % of the steps' time beside what they waited for
/// input, and a reason of INVALID where they took it more than 1 % longer than the host, which
/// cannot be. Gaps within a step, as of kernels that are launched one by one, are not seen. Nothing
/// where the device computes in the host's memory.
void judge_device_times(const SessionResult& session, results::Quality& quality);

/// Prints a line of both clocks; nothing where there is one, or where no step was completed.
void print_device_times(const SessionResult& session, std::ostream& out);

}  // namespace bench

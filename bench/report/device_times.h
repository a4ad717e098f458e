#pragma once

#include <chrono>
#include <iosfwd>

#include "bench/loop/session.h"
#include "results/record/record.h"

namespace bench {

/// The time by which waiting for batches lengthened the measured steps. If batches are transferred
/// while the device computes, the host waits concurrently. The result is then at most the steps'
/// time minus the device's time.
std::chrono::nanoseconds held_up_by_input(const SessionResult& session);

/// The mean of the measured steps without that time, in seconds. Requires at least one step.
double mean_step_without_input(const SessionResult& session);

/// Compares the steps' time on the device's clock with that on the host's clock. Warns if the
/// device was between steps for more than 10 % of the steps' time, apart from waits for input.
/// Marks the run INVALID if the device's time is more than 1 % longer than the host's, which is
/// impossible. Does not detect gaps within a step, such as those between single kernel launches.
/// Does nothing if the device computes in host memory. `could_send_pixels`: --input_transfer=uint8
/// would make the images smaller.
void judge_device_times(const SessionResult& session, bool could_send_pixels,
                        results::Quality& quality);

/// Prints a line with both clocks; nothing if there is only one clock or no completed step.
void print_device_times(const SessionResult& session, std::ostream& out);

}  // namespace bench

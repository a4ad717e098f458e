#pragma once

#include <cstdint>
#include <iosfwd>

#include "bench/loop/session.h"

namespace bench {

/// Prints the quantiles of the measured steps' times; nothing without a step.
void print_latency(const SessionResult& session, std::int64_t images, std::ostream& out);

}  // namespace bench

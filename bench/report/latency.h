#pragma once

#include <cstdint>
#include <iosfwd>

#include "bench/loop/session.h"

namespace bench {

/// Prints the quantiles of the measured steps' times; nothing without a step. A step computes
/// `examples` images or sequences; `example` is their name in the singular.
void print_latency(const SessionResult& session, std::int64_t examples, std::string_view example,
                   std::ostream& out);

}  // namespace bench

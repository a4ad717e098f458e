#pragma once

#include <iosfwd>

#include "results/record.h"

namespace bench {

/// Prints a line on each card that was watched: clock, power, temperature, and energy per image,
/// which has a line of its own where there are several. Nothing for a run without one.
void print_gpus(const results::Record& record, std::ostream& out);

/// Prints whether the numbers of a run on a GPU are VALID, or why they are not.
void print_verdict(const results::Record& record, std::ostream& out);

}  // namespace bench

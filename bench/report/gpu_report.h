#pragma once

#include <iosfwd>

#include "results/record/record.h"

namespace bench {

/// Prints a line for each watched card: clock, power, temperature, and energy per image, token or
/// example. With several cards the energy is on a separate line. Prints nothing for a run without a
/// card.
void print_gpus(const results::Record& record, std::ostream& out);

/// Prints that the numbers of a run on a GPU are VALID, or why they are not.
void print_verdict(const results::Record& record, std::ostream& out);

}  // namespace bench

#pragma once

#include <ostream>

#include "results/tool/commands.h"

namespace bench::results {

/// All commands with a line each, and how to select runs.
void print_help(std::ostream& out);
/// One command with its options.
void print_help(std::ostream& out, const Command& command);

}  // namespace bench::results

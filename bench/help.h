#pragma once

#include <ostream>

namespace bench {

/// Writes what `--help` shows: all flags, group by group, with their values, defaults and what is
/// not built yet; then examples. Lines have at most 100 columns.
void print_help(std::ostream& out);

}  // namespace bench

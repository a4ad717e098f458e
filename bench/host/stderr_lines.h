#pragma once

namespace bench::stderr_line {

/// How each kind of line on stderr begins; a line is printed as the start of its kind and the rest.
#define BENCH_STDERR_LINE(name, start) inline constexpr const char* name = start;
#include "bench/host/stderr_lines.inc"
#undef BENCH_STDERR_LINE

}  // namespace bench::stderr_line

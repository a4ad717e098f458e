#pragma once

namespace bench::stderr_line {

/// The prefixes of the lines on stderr.
#define BENCH_STDERR_LINE(name, start) inline constexpr const char* name = start;
#include "bench/terminal/stderr_lines.inc"
#undef BENCH_STDERR_LINE

}  // namespace bench::stderr_line

#pragma once

#include <string>

#include "bench/plan/settings.h"

namespace bench {

/// `path` with a mark before its extension: "out/run.json" becomes "out/run.batch8.json".
std::string path_with(const std::string& path, const std::string& mark);

/// The settings of one of several runs. `mark` makes separate files for --result_file,
/// --save_variables, --trace_file and --benchmark_log_dir; streams, such as /dev/stdout, remain.
/// Throws UsageError for a path that cannot be written.
RunSettings with_own_files(RunSettings settings, const std::string& mark);

}  // namespace bench

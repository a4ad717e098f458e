#pragma once

#include "results/formats/format.h"

/// The formats, one file each; format.cc lists them.
namespace bench::results {

Format chrome_trace_format();
Format csv_format();
Format github_format();
Format google_benchmark_format();
Format hyperfine_format();
Format lnt_format();
Format mllog_format();
Format mlperf_system_format();
Format phoronix_format();
Format tensorboard_format();
Format tf_logs_format();
Format tf_stdout_format();

}  // namespace bench::results

#pragma once

#include <string>
#include <vector>

#include "bench/plan/record_settings.h"
#include "results/record/record.h"

namespace bench {

/// With fewer runs a number has no 95 % interval.
inline constexpr std::int64_t kFewestReportableRuns = 6;

/// The reasons, known before the run, why its numbers are not reportable: the build, and the number
/// of runs. One sentence each.
std::vector<std::string> violations_before(const results::Source& source,
                                           const results::Build& build,
                                           const RecordSettings& settings);

/// Further reasons, known after the run: a busy machine, a check that failed or was skipped, a run
/// that did not end well.
std::vector<std::string> violations_after(const results::Record& record);

/// Writes the verdict and its reasons to the record of a --reportable run.
void judge_reportable(results::Record& record, const RecordSettings& settings);

}  // namespace bench

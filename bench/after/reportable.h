#pragma once

#include <string>
#include <vector>

#include "bench/plan/record_settings.h"
#include "results/record.h"

namespace bench {

/// A number of fewer runs has no interval of 95 %.
inline constexpr std::int64_t kFewestReportableRuns = 6;

/// What makes a number unfit to publish whatever is measured: how the program was built, and how
/// often it is to run. A sentence each.
std::vector<std::string> violations_before(const results::Source& source,
                                           const results::Build& build,
                                           const RecordSettings& settings);

/// What a run that is over shows beside that: a busy machine, a check that failed or was left out,
/// a run that did not end well.
std::vector<std::string> violations_after(const results::Record& record);

/// Says in the record of a run with --reportable whether it is, and why not.
void judge_reportable(results::Record& record, const RecordSettings& settings);

}  // namespace bench

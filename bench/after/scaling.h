#pragma once

#include "bench/plan/record_settings.h"
#include "results/record.h"
#include "results/store/stored_run.h"

namespace bench {

/// How a run of --scaling_sweep compares with its reference, or the reference with itself. Of a
/// record that has its workload, its towers' times and its images_per_sec.
results::Scaling scaling_of(const ScalingPlace& place, const results::Record& record);

/// What the run of this record is to the others.
ScalingReference reference_of(const results::StoredRun& run);

}  // namespace bench

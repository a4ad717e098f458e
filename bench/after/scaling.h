#pragma once

#include "bench/plan/record_settings.h"
#include "results/record.h"

namespace bench {

/// How a run of --scaling_sweep compares with its reference, or the reference with itself. Of a
/// record that has its workload, its towers' times and its images_per_sec.
results::Scaling scaling_of(const ScalingPlace& place, const results::Record& record);

}  // namespace bench

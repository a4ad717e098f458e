#pragma once

#include "bench/plan/record_settings.h"
#include "results/record/record.h"
#include "results/store/stored_run.h"

namespace bench {

/// Compares a run of --scaling_sweep with its reference, or the reference with itself. The record
/// must have its workload, its towers' times and its speed.
/// `units_per_step`: images or tokens per step of all devices.
results::Scaling scaling_of(const ScalingPlace& place, const results::Record& record,
                            std::int64_t units_per_step);

/// The reference that this record provides for the other runs.
ScalingReference reference_of(const results::StoredRun& run);

}  // namespace bench

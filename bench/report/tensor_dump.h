#pragma once

#include "bench/plan/settings.h"
#include "bench/plan/tensor_files.h"
#include "pipeline/input.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// Runs the first step on a batch without an update. Writes its tensors in canonical order: the
/// inputs by name, except images, and `logits`. When training, also `loss` (without the
/// L2 term), `total_loss` (with it), and `grad/<variable>`. The latter is the derivative of `loss`
/// by a trained variable. Calls `watch` for the step before writing. Throws WriteError.
void dump_first_step(const Workload& workload, const RunTensorFiles& files, Tower& tower,
                     const InputBatch& batch, const Watch& watch = {});

}  // namespace bench

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "models/base/tensor_file.h"
#include "pipeline/input.h"
#include "variable_mgmt/checkpoint/checkpoint_folder.h"

namespace bench {

/// How far a training run is.
struct TrainingProgress {
  /// Completed steps, warm-up included.
  std::int64_t steps = 0;
  /// The place of the next batch.
  InputPosition input = {};
};

/// The checkpoint from which a training run continues.
struct OpenCheckpoint {
  TensorFile file;
  TrainingProgress progress;
  /// The settings in which the run differs from the one that wrote the checkpoint, as "--FLAG was
  /// VALUE". It then continues, but not with the same numbers.
  std::vector<std::string> differences = {};
};

/// What the file of a checkpoint says besides its tensors.
std::map<std::string, std::string> checkpoint_metadata(const RunSettings& settings,
                                                       const TrainingProgress& progress);

/// Opens a checkpoint for a run with these settings and this network. Throws UsageError if it is of
/// another network, dataset or optimizer, or was not written by --train_dir. Throws DataError if it
/// is damaged.
OpenCheckpoint open_checkpoint(const CheckpointFile& checkpoint, const RunSettings& settings,
                               const Graph& network);

/// Shortens the run by the steps that are complete, and lets its input continue. At least one step
/// is measured. Returns false if all steps are complete.
bool continue_after(const TrainingProgress& progress, RunSettings& settings);

}  // namespace bench

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/plan/settings.h"
#include "models/base/tensor_file.h"
#include "pipeline/input.h"
#include "results/record/record.h"
#include "variable_mgmt/checkpoint/checkpoint_folder.h"
#include "variable_mgmt/checkpoint/run_state.h"

namespace bench {

/// How far a training run is.
struct TrainingProgress {
  /// Completed steps, warm-up included.
  std::int64_t steps = 0;
  /// The steps of the training's warm-up, complete or not.
  std::int64_t warmup = 0;
  /// The place of the next batch.
  InputPosition input = {};
  /// The accuracy that ended the training (--stop_at_top_1_accuracy), if one did.
  std::optional<double> reached_top_1 = {};
  /// The type of the computed steps, if it has 16 bits.
  std::optional<DType> half = {};
};

/// The checkpoint from which a training run continues.
struct OpenCheckpoint {
  /// Empty once the run has its contents.
  std::optional<TensorFile> file;
  TrainingProgress progress;
  /// The settings in which the run differs from the one that wrote the checkpoint, as "--FLAG was
  /// VALUE". It then continues, but not with the same numbers.
  std::vector<std::string> differences = {};
};

/// The key in RunState::metadata of a process's kernels and layouts. It has the format of
/// ChoicesFile, but is made for a TuningKey. Processes without a key have the choices of process 0.
std::string choices_key(int process);

/// The flags of a run that change its numbers, with their values.
using NumberFlags = std::map<std::string, std::string>;
NumberFlags number_flags(const RunSettings& settings, const results::RunFlags& flags);

/// Writes a checkpoint with a checksum. Throws WriteError.
void write_checkpoint(const CheckpointFolder& folder, const NumberFlags& flags,
                      const TrainingProgress& progress, const RunState& state);

/// Checks the checkpoint after `step` for a run with these flags and this network. Reads all of it.
/// Throws UsageError if it is of another network, dataset or optimizer, or was not written by
/// --train_dir. Throws DataError if it is damaged.
OpenCheckpoint open_checkpoint(TensorFile file, std::int64_t step, const NumberFlags& flags,
                               const Graph& network);

/// Checks a file whose variables a run for `model` loads. Passes if --train_dir did not write it.
/// Throws DataError if it is damaged, UsageError if it is of another model, unless `any_model`.
void check_source(const TensorFile& file, std::string_view model, bool any_model);

/// Shortens the run by the steps that are complete, and lets its input continue. At least one step
/// is measured. If the training's warm-up is incomplete, `progress` gets the run's. Returns false
/// if all steps are complete.
bool continue_after(TrainingProgress& progress, RunSettings& settings);

}  // namespace bench

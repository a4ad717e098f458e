#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/plan/checkpoint.h"
#include "bench/plan/settings.h"
#include "bench/plan/tuning_cache.h"
#include "results/environment/clock.h"
#include "results/record/record.h"
#include "variable_mgmt/checkpoint/run_state.h"

namespace bench {

/// The checkpoints of a training run with --train_dir: what it continues from, and what it writes.
/// With several processes, the first one reads and writes the files, and all must make the same
/// calls.
class Checkpointing {
 public:
  /// Opens the folder and its newest checkpoint in the first process. The settings and the clock
  /// must outlive this. `world` connects the other processes; null for a single process. Throws
  /// UsageError and DataError.
  Checkpointing(const RunSettings& settings, const results::RunFlags& flags, const Graph& network,
                const Clock& clock, World* world);

  /// Gives all processes the checkpoint, and shortens the run in `settings` by the steps that are
  /// complete. Waits for all processes.
  void share(const Graph& network, RunSettings& settings);

  /// All steps of the run are complete.
  [[nodiscard]] bool nothing_left() const { return nothing_left_; }
  /// Sentences for the user.
  [[nodiscard]] std::vector<std::string> notices() const;
  /// The completed steps of the run that is continued; 0 for a new one.
  [[nodiscard]] std::int64_t steps_before() const;
  /// The warm-up steps of the training that is continued.
  [[nodiscard]] std::optional<std::int64_t> training_warmup() const;

  struct StoredChoices {
    std::optional<Choices> choices = {};
    /// Why a checkpoint's choices are not for this run, in a sentence; empty without a checkpoint.
    std::string why_not = {};
  };
  /// The kernels that computed the checkpoint, if they were chosen for the same key. Later
  /// checkpoints name this key.
  StoredChoices stored_choices(const TuningKey& key);
  /// The run has other kernels than the checkpoint.
  void note_other_choices(const std::string& why);
  /// A sentence for the user if it has; else empty. Each process has its own.
  [[nodiscard]] const std::string& choices_notice() const { return choices_notice_; }
  /// Gives a tower the state of the checkpoint, if there is one; call it on the tower's thread
  /// before the first step.
  void restore(Towers& towers, int tower);
  /// Writes a checkpoint between two steps if it is time for one. If that fails, prints a warning
  /// and tries again next time. Waits for all processes.
  void between_steps(Towers& towers, const TrainingProgress& progress);
  /// Writes the last checkpoint. Throws WriteError.
  void finish(Towers& towers, const TrainingProgress& progress);

  [[nodiscard]] results::Checkpoints summary() const;

 private:
  void write(Towers& towers, const TrainingProgress& progress);
  /// With --save_model_secs, waits for all processes.
  [[nodiscard]] bool is_due(std::int64_t measured) const;
  [[nodiscard]] TowerVariables related() const;

  const RunSettings& settings_;
  const Clock& clock_;
  World* world_;
  NumberFlags flags_;
  /// What the run's choices of kernels depend on.
  std::map<std::string, std::string> choices_for_;
  /// Set in the first process.
  std::optional<CheckpointFolder> folder_;
  std::optional<OpenCheckpoint> from_;
  std::atomic<int> restored_ = 0;
  std::string choices_notice_;
  bool nothing_left_ = false;
  std::int64_t last_written_ = -1;
  std::chrono::nanoseconds last_time_;
  std::int64_t written_ = 0;
  std::chrono::nanoseconds time_{};
};

}  // namespace bench

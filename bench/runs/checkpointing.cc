#include "bench/runs/checkpointing.h"

#include <glog/logging.h>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {

Checkpointing::Checkpointing(RunSettings& settings, const results::RunFlags& flags,
                             const Graph& network, const Clock& clock)
    : settings_(settings),
      clock_(clock),
      flags_(number_flags(settings, flags)),
      folder_(*settings.outputs.checkpoints.folder, settings.outputs.checkpoints.keep),
      last_time_(clock.now()) {
  const std::vector<CheckpointFile> files = find_checkpoints(folder_.path());
  if (!files.empty()) {
    from_.emplace(open_checkpoint(files.back(), flags_, network));
    last_written_ = from_->progress.steps;
    nothing_left_ = !continue_after(from_->progress, settings);
  }
}

std::vector<std::string> Checkpointing::notices() const {
  const std::string flag =
      fmt::format("--train_dir={}", printable(*settings_.outputs.checkpoints.folder));
  if (!from_) {
    return {fmt::format("{}: no checkpoint yet, so training begins with the first step", flag)};
  }
  if (nothing_left_) {
    return {fmt::format(
        "{}: the checkpoint after step {} completes this run, so bench writes no result; "
        "to train further, increase --num_batches, --num_epochs or --stop_at_top_1_accuracy",
        flag, from_->progress.steps)};
  }
  std::vector<std::string> notices{
      fmt::format("{}: training continues after step {}", flag, from_->progress.steps)};
  for (const std::string& difference : from_->differences) {
    notices.push_back(
        fmt::format("{}: {}, so the numbers differ from those of a run without interruption", flag,
                    difference));
  }
  return notices;
}

std::int64_t Checkpointing::steps_before() const { return from_ ? from_->progress.steps : 0; }

std::optional<std::int64_t> Checkpointing::training_warmup() const {
  return from_ && from_->progress.steps > from_->progress.warmup
             ? std::optional(from_->progress.warmup)
             : std::nullopt;
}

std::string Checkpointing::keep_choices(const TuningKey& key, RunSettings& settings) {
  choices_for_ = key.all();
  if (!from_ || !from_->choices || settings.execution.choices_file) {
    return "";
  }
  if (const std::string why = key.difference(from_->choices->made_for); !why.empty()) {
    // Other differences of the numbers are reported, so this one is not news.
    return from_->differences.empty()
               ? fmt::format("kernels are chosen again, so the numbers may differ: {} {}",
                             from_->file.name(), why)
               : "";
  }
  settings.execution.choices = std::make_shared<ChoicesFile>(*from_->choices);
  settings.execution.chosen_by = ChosenBy::checkpoint;
  return "";
}

TowerVariables Checkpointing::related() const {
  return settings_.workload.strategy->reduction ? TowerVariables::shared : TowerVariables::separate;
}

void Checkpointing::restore(Towers& towers, int tower) const {
  if (!from_) {
    return;
  }
  restore_run_state(towers, tower, related(), from_->file);
  const LossScaleRule rule = loss_scale_rule(settings_.workload);
  if (!rule.automatic) {
    towers[tower].set_loss_scale(rule.initial);
  }
}

bool Checkpointing::is_due(std::int64_t measured) const {
  const CheckpointSettings& when = settings_.outputs.checkpoints;
  if (when.every_steps) {
    return measured > 0 && measured % *when.every_steps == 0;
  }
  return when.every_seconds > 0 &&
         clock_.now() - last_time_ >= std::chrono::seconds(when.every_seconds);
}

void Checkpointing::between_steps(Towers& towers, const TrainingProgress& progress) {
  if (!is_due(progress.steps - progress.warmup)) {
    return;
  }
  try {
    write(towers, progress);
  } catch (const WriteError& error) {
    LOG(WARNING) << "warning: " << error.what() << "; training goes on";
  }
  last_time_ = clock_.now();
}

void Checkpointing::finish(Towers& towers, const TrainingProgress& progress) {
  if (progress.steps != last_written_ || progress.reached_top_1) {
    write(towers, progress);
  }
  LOG(INFO) << fmt::format("note: --train_dir={}: the newest checkpoint is after step {}",
                           printable(*settings_.outputs.checkpoints.folder), progress.steps);
}

results::Checkpoints Checkpointing::summary() const {
  return {.continued_after = from_ ? std::optional(from_->progress.steps) : std::nullopt,
          .written = written_,
          .seconds = std::chrono::duration<double>(time_).count()};
}

void Checkpointing::write(Towers& towers, const TrainingProgress& progress) {
  const std::chrono::nanoseconds begin = clock_.now();
  const Choices& choices = towers.first().executor().plan().choices;
  write_checkpoint(folder_, flags_, {.choices = choices, .made_for = choices_for_}, progress,
                   read_run_state(towers, related()));
  last_written_ = progress.steps;
  ++written_;
  time_ += clock_.now() - begin;
}

}  // namespace bench

#include "bench/runs/checkpointing.h"

#include <glog/logging.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "bench/plan/choices_file.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string contents(std::istreambuf_iterator<char>(file), {});
  if (!file) {
    throw DeviceError(fmt::format("cannot read '{}'", path));
  }
  return contents;
}

}  // namespace

Checkpointing::Checkpointing(const RunSettings& settings, const results::RunFlags& flags,
                             const Graph& network, const Clock& clock, World* world)
    : settings_(settings),
      clock_(clock),
      world_(world),
      flags_(number_flags(settings, flags)),
      last_time_(clock.now()) {
  if (world != nullptr && world->rank() > 0) {
    return;
  }
  const CheckpointSettings& wanted = settings.outputs.checkpoints;
  folder_.emplace(*wanted.folder, wanted.keep);
  const std::vector<CheckpointFile> files = find_checkpoints(folder_->path());
  if (!files.empty()) {
    from_.emplace(
        open_checkpoint(TensorFile(files.back().path), files.back().step, flags_, network));
  }
}

void Checkpointing::share(const Graph& network, RunSettings& settings) {
  if (world_ != nullptr) {
    const bool sends = from_.has_value();
    const std::string name = world_->gather(sends ? from_->file.name() : "").front();
    const std::string step =
        world_->gather(sends ? std::to_string(from_->progress.steps) : "").front();
    const std::string contents = world_->gather(sends ? contents_of(name) : "").front();
    if (!name.empty() && !sends) {
      from_.emplace(open_checkpoint(TensorFile(name, contents), std::stoll(step), flags_, network));
    }
  }
  if (from_) {
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
  if (!from_ || settings.execution.choices_file) {
    return "";
  }
  const auto& metadata = from_->file.metadata();
  const auto found = metadata.find(choices_key(settings.workload.process));
  const auto choices = found == metadata.end() ? std::nullopt : parse_choices(found->second);
  if (!choices) {
    return "";
  }
  if (const std::string why = key.difference(choices->made_for); !why.empty()) {
    // Other differences of the numbers are reported, so this one is not news.
    return from_->differences.empty()
               ? fmt::format("kernels are chosen again, so the numbers may differ: {} {}",
                             from_->file.name(), why)
               : "";
  }
  settings.execution.choices = std::make_shared<ChoicesFile>(*choices);
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
  restore_run_state(towers, tower, related(), from_->file, world_);
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
  if (when.every_seconds == 0) {
    return false;
  }
  const bool due = clock_.now() - last_time_ >= std::chrono::seconds(when.every_seconds);
  return world_ == nullptr ? due : !world_->gather(due ? "due" : "").front().empty();
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
  const ChoicesFile choices{.choices = towers.first().executor().plan().choices,
                            .made_for = choices_for_};
  const RunState state = read_run_state(
      towers, related(), world_, {{choices_key(settings_.workload.process), to_text(choices)}});
  std::string failure;
  if (folder_) {
    try {
      write_checkpoint(*folder_, flags_, progress, state);
    } catch (const WriteError& error) {
      failure = error.what();
    }
  }
  if (world_ != nullptr) {
    // The next step of the others would wait for the disk, too.
    failure = world_->gather(failure).front();
  }
  if (!failure.empty()) {
    throw WriteError(failure);
  }
  last_written_ = progress.steps;
  ++written_;
  time_ += clock_.now() - begin;
}

}  // namespace bench

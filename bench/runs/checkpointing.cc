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

std::string contents_of(const TensorFile& file) {
  std::string contents(file.size_bytes(), '\0');
  std::ifstream stream(file.name(), std::ios::binary);
  if (!stream.read(contents.data(), static_cast<std::streamsize>(contents.size()))) {
    throw DeviceError(fmt::format("cannot read '{}'", file.name()));
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
    try {
      from_.emplace(
          open_checkpoint(TensorFile(files.back().path), files.back().step, flags_, network));
    } catch (const DataError& error) {
      throw DataError(fmt::format(
          "{}; remove the file to {}", error.what(),
          files.size() > 1 ? "continue from the previous one" : "restart the training"));
    }
  }
}

void Checkpointing::share(const Graph& network, RunSettings& settings) {
  if (world_ != nullptr) {
    const bool sends = from_.has_value();
    const std::string sent =
        std::move(world_
                      ->gather(sends ? fmt::format("{}\n{}\n{}", from_->progress.steps,
                                                   from_->file->name(), contents_of(*from_->file))
                                     : "")
                      .front());
    if (!sent.empty() && !sends) {
      const std::size_t step = sent.find('\n');
      const std::size_t name = sent.find('\n', step + 1);
      from_.emplace(open_checkpoint(TensorFile(sent.substr(step + 1, name - step - 1),
                                               std::string_view(sent).substr(name + 1)),
                                    std::stoll(sent), flags_, network));
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
  return from_ ? std::optional(from_->progress.warmup) : std::nullopt;
}

Checkpointing::StoredChoices Checkpointing::stored_choices(const TuningKey& key) {
  choices_for_ = key.all();
  if (!from_) {
    return {};
  }
  const auto& metadata = from_->file->metadata();
  for (const int process : {settings_.workload.process, 0}) {
    const auto found = metadata.find(choices_key(process));
    if (found == metadata.end()) {
      continue;
    }
    auto stored = parse_choices(found->second);
    std::string why = stored ? key.difference(stored->made_for) : "has no readable choices";
    if (!why.empty()) {
      return {.why_not = fmt::format("{} {}", from_->file->name(), why)};
    }
    return {.choices = std::move(stored->choices)};
  }
  return {.why_not = fmt::format("{} has no choices", from_->file->name())};
}

void Checkpointing::note_other_choices(const std::string& why) {
  // The user already knows that the numbers differ.
  if (from_ && from_->differences.empty()) {
    choices_notice_ = fmt::format(
        "the kernels are not those of the checkpoint, so the numbers may differ: {}", why);
  }
}

TowerVariables Checkpointing::related() const {
  return settings_.workload.strategy->reduction ? TowerVariables::shared : TowerVariables::separate;
}

void Checkpointing::restore(Towers& towers, int tower) {
  if (!from_) {
    return;
  }
  restore_run_state(towers, tower, related(), *from_->file, world_);
  const LossScaleRule rule = loss_scale_rule(settings_.workload);
  if (!rule.automatic) {
    towers[tower].set_loss_scale(rule.initial);
  }
  if (++restored_ == towers.size()) {
    from_->file.reset();  // It may be in memory.
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
    LOG(WARNING) << "warning: " << error.what() << "; training continues";
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
  RunState state = read_run_state(towers, related(), world_,
                                  {{choices_key(settings_.workload.process), to_text(choices)}});
  // Equal processes have equal choices. They are long, and a file's header is limited.
  const std::string first = state.metadata.at(choices_key(settings_.workload.process));
  for (int process = 1; process < settings_.workload.processes; ++process) {
    const auto found = state.metadata.find(choices_key(process));
    if (found != state.metadata.end() && found->second == first) {
      state.metadata.erase(found);
    }
  }
  std::string failure;
  if (folder_) {
    try {
      TrainingProgress written = progress;
      if (is_half(settings_.workload.dtype)) {
        written.half = settings_.workload.dtype;
      }
      write_checkpoint(*folder_, flags_, written, state);
    } catch (const WriteError& error) {
      failure = error.what();
    }
  }
  if (world_ != nullptr) {
    // This costs no time: the others would wait for rank 0 in the next step.
    failure = world_->gather(failure).front();
  }
  if (!failure.empty()) {
    throw WriteError(folder_ ? failure : fmt::format("{}: {}", world_->name(0), failure));
  }
  last_written_ = progress.steps;
  ++written_;
  time_ += clock_.now() - begin;
}

}  // namespace bench

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/flags/batch_request.h"
#include "bench/plan/choices_file.h"
#include "bench/plan/record_settings.h"
#include "bench/plan/schedule.h"
#include "kernels/backend.h"
#include "models/zoo/zoo.h"
#include "pipeline/datasets/dataset.h"
#include "pipeline/input.h"
#include "variable_mgmt/learning_rate.h"
#include "variable_mgmt/strategy.h"

namespace bench {

enum class RunDevice : std::uint8_t { cpu, gpu, reference };
/// As --device names it.
std::string_view name_of(RunDevice device);
/// Throws InternalError for a name that --device does not take.
RunDevice device_named(std::string_view name);

/// Whether steps are recorded once and replayed: `automatic` where they can be.
enum class StepRecording : std::uint8_t { automatic, on, off };

/// What only a GPU asks for.
struct GpuSettings {
  /// A card that is planned for: its capability, as sm_90, or a file that describes it; unset: the
  /// GPU of this host computes.
  std::optional<std::string> plan_for = {};
  /// All towers are on one card.
  bool virtual_towers = false;
  bool tf32 = false;
  /// Batch norms are given to their convolutions where the card takes both.
  bool conv_statistics = true;
  /// And are left to the convolutions that read them.
  bool conv_prologue = true;
  StepRecording recording = StepRecording::automatic;
};

/// How many of a layer's kernels are timed before the run: none, the few that the estimates prefer,
/// or all.
enum class Autotune : std::uint8_t { off, quick, full };
/// As --autotune names it.
std::string_view name_of(Autotune autotune);

/// How the kernels and layouts of a run's plan were chosen: by a file, by time in this run or an
/// earlier one, or by estimates.
enum class ChosenBy : std::uint8_t { estimates, file, timed, kept };
/// As a record names it.
std::string_view name_of(ChosenBy chosen_by);

enum class RunMode : std::uint8_t { training, forward_only };

/// Which loss the step lines show.
enum class ReportedLoss : std::uint8_t {
  total,  ///< with the L2 term
  base,
};

/// Where batches come from; synthetic images where nothing is set.
struct InputSettings {
  std::optional<DatasetOptions> dataset = {};
  /// A safetensors file.
  std::optional<std::string> file = {};
  /// Of the dataset's slots: u8 is normalised by the device.
  SlotType type = SlotType::f32;
};

/// Other files that a run reads and writes; unset: none.
struct RunFiles {
  /// Flags were read from them.
  std::vector<std::string> flag_files = {};
  /// Read into RunSettings::choices: a file of choices, or a record that holds some.
  std::optional<std::string> choices = {};
  std::optional<std::string> init_from = {};
  bool init_from_partial = false;
  std::optional<std::string> save_variables = {};
  std::optional<std::string> dump_tensors = {};
  std::optional<std::string> trace = {};
  std::optional<std::string> result = {};
  /// A folder, for the logs of tf_cnn_benchmarks' form.
  std::optional<std::string> benchmark_logs = {};
};

/// The step lines.
struct LineSettings {
  /// One every so many steps.
  std::int64_t every = 10;
  /// The weight of the newest step in the mean; unset: that of all others.
  std::optional<double> ewma = {};
  ReportedLoss loss = ReportedLoss::total;
};

/// What is printed instead of a run.
struct DumpSettings {
  bool graph = false;
  bool plan = false;
  bool choices = false;
  bool fusions = false;
  [[nodiscard]] bool any() const { return graph || plan || choices || fusions; }
};

/// How the user wants the loss of a run in 16 bits to be scaled.
struct LossScaleSettings {
  /// Unset: as the type needs it.
  std::optional<double> initial = {};
  bool automatic = false;
  std::int64_t increase_every = LossScaleRule().increase_every;
};

/// What a run is, worked out from its flags before anything is made: every default filled in.
struct RunSettings {
  const Model* model = nullptr;
  const Dataset* dataset = nullptr;
  RunMode mode = RunMode::training;
  RunDevice device = RunDevice::cpu;
  /// The flag's own spelling, for the header's device names.
  std::string device_label = {};
  GpuSettings gpu = {};
  /// Devices that compute at once, a tower on each.
  int towers = 1;
  /// The tower that a network is built for: its images are the ones behind those of the towers
  /// before it.
  int tower = 0;
  /// Of each device, where it is the CPU; unset: the cores are divided, one each.
  std::optional<int> threads = {};
  /// Each device of the CPU has the processors and the memory of one NUMA node.
  bool numa_affinity = false;
  DataFormat format = DataFormat::automatic;
  /// The kernels and layouts of the plan; null: chosen by their estimates.
  std::shared_ptr<const ChoicesFile> choices = {};
  ChosenBy chosen_by = ChosenBy::estimates;
  Autotune autotune = Autotune::off;
  /// No kernel runs that does not give the same bits each time.
  bool deterministic = false;
  DType dtype = DType::f32;
  /// `dtype` is not settled yet: the faster of bf16 and f16 on the device (choose_precision).
  bool choose_half = false;
  /// Layers run in int8; `dtype` is that of the others.
  bool int8 = false;
  std::int64_t calibration_batches = 2;

  /// What --batch_size asked for.
  BatchRequest batch_request = {};
  /// Images per step of one device. Where --batch_size gives none (a list, auto, max), the model's
  /// own until one is chosen.
  std::int64_t batch = 0;
  /// Height and width of the network's input, in pixels.
  std::int64_t image_size = 0;
  std::int64_t num_classes = 0;
  bool aux_head = false;
  double label_smoothing = 0;
  /// Batch norm is folded into the convolutions of a forward-only run.
  bool freeze = false;
  /// Dropout and drop-path are off.
  bool deterministic_layers = false;
  std::uint64_t seed = 1234;

  Warmup warmup = {};
  StepCountOptions step_request = {};
  StepCount steps = {};
  /// The run's time, warm-up included.
  std::optional<double> max_seconds = {};

  OptimizerSettings optimizer = {.weight_decay = NetworkOptions{}.weight_decay};
  LossScaleSettings loss_scale = {};
  LearningRateOptions learning_rate = {};
  const StrategyRow* strategy = &all_strategies().front();
  /// How the towers' gradients are joined; none where they are not.
  std::optional<GradientReduction> reduction = {};
  /// What of the strategy is not its optimizer's.
  struct Sharing {
    bool one_holder = false;
    bool relaxed = false;
    bool staged = false;
    /// Their type of 16 bits is settled later: see strategy_settings().
    SumSettings sums = {};
    /// Gradients are sent and added in the type that the run computes in, one of 16 bits.
    bool compact = false;
    /// The algorithm is the fastest by time; NCCL is timed too.
    bool timed = false;
    bool nccl_timed = false;
  };
  Sharing sharing = {};

  InputSettings input = {};
  RunFiles files = {};
  RecordSettings record = {};
  LineSettings lines = {};
  bool print_training_accuracy = false;
  bool profile = false;
  DumpSettings dump = {};
  /// Sentences for the user about what differs from what was asked.
  std::vector<std::string> notices = {};

  [[nodiscard]] bool training() const { return mode == RunMode::training; }
  /// Images per step of all devices.
  [[nodiscard]] std::int64_t global_batch() const { return batch * towers; }
  /// Whether batch norm is folded into the convolutions.
  [[nodiscard]] bool frozen() const { return !training() && (freeze || int8); }
  [[nodiscard]] bool accuracies() const { return !training() || print_training_accuracy; }
  [[nodiscard]] bool synthetic() const { return !input.dataset && !input.file; }
  /// How its graph is planned.
  [[nodiscard]] LoweringOptions lowering() const {
    return {.format = format,
            .pinned = choices == nullptr ? nullptr : &choices->choices,
            .deterministic = deterministic,
            .pixels = input.type == SlotType::u8 ? "images" : ""};
  }
};

/// The settings of the same run with so many images per step: the learning rate, and the steps that
/// make so many epochs, follow. Throws as plan_steps() does.
RunSettings with_batch(RunSettings settings, std::int64_t batch);

/// The classes of a model where nobody asks for another number: its own, or else the dataset's.
std::int64_t own_classes(const Model& model, const Dataset& dataset);

/// The number of a step as dropout and drop-path see it: -1, which turns them off, with
/// --deterministic_layers.
std::int32_t layer_step(const RunSettings& settings, std::int64_t global_step);

/// How a run scales its loss: not at all but in 16 bits.
LossScaleRule loss_scale_rule(const RunSettings& settings);

/// Whether every tower gets the sums of all towers' gradients.
bool all_reduces(const RunSettings& settings);

/// The settings of one of the run's towers.
RunSettings of_tower(RunSettings settings, int tower);

/// What the run's strategy is told, once the type that the run computes in is settled. The L2 term
/// is in every tower's loss: where gradients are summed, so is the decay.
StrategySettings strategy_settings(const RunSettings& settings);

/// What the joined gradients are multiplied with in an update.
double gradient_scale(const RunSettings& settings);

}  // namespace bench

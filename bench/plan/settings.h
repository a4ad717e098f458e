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
#include "variable_mgmt/strategies/strategy.h"

namespace bench {

enum class RunDevice : std::uint8_t { cpu, gpu, reference };
/// The name of the device in --device.
std::string_view name_of(RunDevice device);
/// Throws InternalError for a name that --device does not accept.
RunDevice device_named(std::string_view name);

/// Controls if steps are recorded once and replayed; `automatic`: where possible.
enum class StepRecording : std::uint8_t { automatic, on, off };

/// Settings that apply only to GPUs.
struct GpuSettings {
  /// The card to plan for: its capability, such as sm_90, or a file that describes it; unset: the
  /// GPU of this host computes.
  std::optional<std::string> plan_for = {};
  /// All towers share one card.
  bool virtual_towers = false;
  /// The card of the first tower, by its place among the usable ones. Processes of one host use
  /// different cards.
  int first = 0;
  /// The number of processes that compute on the same card, each with its virtual towers.
  int processes = 1;
  /// The fraction of the free memory that the run may need.
  double memory_fraction = 1;
  /// Fuse batch norms into the convolutions that produce their input, where the card supports it.
  bool conv_statistics = true;
  /// Fuse batch norms into the convolutions that read them, too.
  bool conv_prologue = true;
  StepRecording recording = StepRecording::automatic;
};

/// The number of a layer's kernels to time before the run: none, the few with the best estimates,
/// or all.
enum class Autotune : std::uint8_t { off, quick, full };
/// The name of the value in --autotune.
std::string_view name_of(Autotune autotune);

/// How the kernels and layouts of a plan were chosen: by estimates, by a file, by times of this run
/// or of an earlier one. A run that continues a checkpoint uses the checkpoint's choices.
enum class ChosenBy : std::uint8_t { estimates, file, timed, kept, checkpoint };
/// The name in a record.
std::string_view name_of(ChosenBy chosen_by);

enum class RunMode : std::uint8_t { training, forward_only, evaluation };

/// The loss that step lines show.
enum class ReportedLoss : std::uint8_t {
  total,  ///< Includes the L2 term.
  base,
};

/// The source of batches; synthetic images if nothing is set.
struct InputSettings {
  std::optional<DatasetOptions> dataset = {};
  /// A safetensors file.
  std::optional<std::string> file = {};
  /// The place of the first batch.
  InputPosition start = {};
  /// See record_memory().
  std::size_t record_bytes = 0;
};

/// The files that a run writes; unset: none.
struct OutputFiles {
  std::optional<std::string> save_variables = {};
  std::optional<std::string> dump_tensors = {};
  std::optional<std::string> trace = {};
  std::optional<std::string> result = {};
  /// A folder for logs in the format of tf_cnn_benchmarks.
  std::optional<std::string> benchmark_logs = {};
};

/// The checkpoints of a training run.
struct CheckpointSettings {
  /// Unset: none are read or written.
  std::optional<std::string> folder = {};
  /// Besides the one at the end: after each of these numbers of measured steps, or so much time.
  std::optional<std::int64_t> every_steps = {};
  std::int64_t every_seconds = 0;
  /// How many to keep; 0: all.
  std::int64_t keep = 5;
};

/// The events of a training run.
struct EventSettings {
  /// 0: none; 1: numbers; 2: also a histogram of all gradients; 3: also histograms of each
  /// variable.
  std::int64_t verbosity = 0;
  /// 0: none.
  std::int64_t every_steps = 0;
  [[nodiscard]] bool asked() const { return verbosity > 0 && every_steps > 0; }
  /// Events have histograms of the gradients.
  [[nodiscard]] bool with_gradients() const { return asked() && verbosity > 1; }
};

/// Settings of the step lines.
struct LineSettings {
  /// Print one line every N steps.
  std::int64_t every = 10;
  /// The weight of the newest step in a moving average; unset: all steps have the same weight.
  std::optional<double> ewma = {};
  ReportedLoss loss = ReportedLoss::total;
};

/// What to print instead of running.
struct DumpSettings {
  bool graph = false;
  bool plan = false;
  bool choices = false;
  bool fusions = false;
  [[nodiscard]] bool any() const { return graph || plan || choices || fusions; }
};

/// The requested loss scaling of a run in 16 bits.
struct LossScaleSettings {
  /// Unset: the type's default.
  std::optional<double> initial = {};
  bool automatic = false;
  std::int64_t increase_every = LossScaleRule().increase_every;
};

/// The 16-bit type for --use_fp16 that another part of the run has used before.
struct EarlierHalf {
  enum class Source : std::uint8_t { checkpoint, rank_0 };
  DType dtype = DType::f16;
  Source source = Source::checkpoint;
};

/// What a run computes. Two runs with equal workloads compute the same numbers, to rounding.
/// `tower` and `process` say which part of them.
struct Workload {
  const Model* model = nullptr;
  const Dataset* dataset = nullptr;
  RunMode mode = RunMode::training;
  DType dtype = DType::f32;
  /// `dtype` is not resolved yet: the faster of bf16 and f16 on the device (choose_precision),
  /// unless `earlier_half` is set.
  bool choose_half = false;
  std::optional<EarlierHalf> earlier_half = {};
  /// Layers run in int8; `dtype` applies to the others.
  bool int8 = false;
  std::int64_t calibration_batches = 2;
  /// GPUs may round the inputs of f32 products to TF32.
  bool tf32 = false;

  /// The batch size that --batch_size requested.
  BatchRequest batch_request = {};
  /// Images per step of one device. If --batch_size gives no number (a list, auto, max), it is the
  /// model's default until one is chosen.
  std::int64_t batch = 0;
  /// The number of devices of this process that compute concurrently, one tower each.
  int towers = 1;
  /// The tower for which a network is built. Its images follow those of the preceding towers.
  int tower = 0;
  /// The number of processes, each with that many towers, and this process's number among them.
  int processes = 1;
  int process = 0;
  /// Other processes, which hold the variables; 0: the towers do.
  int servers = 0;
  /// The processes do not wait for each other.
  bool asynchronous = false;
  /// Height and width of the network's input, in pixels.
  std::int64_t image_size = 0;
  std::int64_t num_classes = 0;
  bool aux_head = false;
  double label_smoothing = 0;
  /// Fold batch norm into the convolutions of a forward-only run.
  bool freeze = false;
  /// Dropout and drop-path are off.
  bool deterministic_layers = false;
  bool print_training_accuracy = false;
  std::uint64_t seed = 1234;

  InputSettings input = {};
  std::optional<std::string> init_from = {};
  bool init_from_partial = false;
  /// The flag that gave init_from.
  std::string_view init_flag = "init_from";

  OptimizerSettings optimizer = {.weight_decay = NetworkOptions{}.weight_decay};
  LossScaleSettings loss_scale = {};
  LearningRateOptions learning_rate = {};
  const StrategyRow* strategy = &all_strategies().front();
  /// The reduction of the towers' gradients; nullopt if they are not reduced.
  std::optional<GradientReduction> reduction = {};
  /// Apply the gradients of the previous step.
  bool relaxed = false;
  /// Also compute with the variables of the previous step.
  bool staged = false;
  /// Gradients are sent and added in the run's 16-bit compute type.
  bool compact = false;

  [[nodiscard]] bool training() const { return mode == RunMode::training; }
  /// Computes the accuracy on the validation subset, forward only.
  [[nodiscard]] bool evaluation() const { return mode == RunMode::evaluation; }
  /// The number of towers of all processes, and of the processes before this one.
  [[nodiscard]] int all_towers() const { return towers * processes; }
  [[nodiscard]] int towers_before() const { return towers * process; }
  /// The number of towers whose gradients make one update.
  [[nodiscard]] int towers_of_update() const { return servers > 0 ? towers : all_towers(); }
  /// Images per step of this process's devices, and of all devices.
  [[nodiscard]] std::int64_t process_batch() const { return batch * towers; }
  [[nodiscard]] std::int64_t global_batch() const { return batch * all_towers(); }
  /// Images or tokens per step of all devices.
  [[nodiscard]] std::int64_t units_per_step() const {
    return global_batch() * model->unit().per_example;
  }
  /// True if batch norm is folded into the convolutions.
  [[nodiscard]] bool frozen() const { return !training() && (freeze || int8); }
  [[nodiscard]] bool accuracies() const {
    return (model == nullptr || model->classifies()) && (!training() || print_training_accuracy);
  }
  [[nodiscard]] bool synthetic() const { return !input.dataset && !input.file; }
};

/// How, where and for how long a run computes its workload.
struct Execution {
  RunDevice device = RunDevice::cpu;
  /// The flag's own spelling, for the header's device names.
  std::string device_label = {};
  /// Both are printed; horovod reduces on the run's device, and input has no groups.
  std::string horovod_device = {};
  std::int64_t batch_group_size = 1;
  GpuSettings gpu = {};
  /// The threads of each CPU device; unset: one per core, with the cores divided among devices.
  std::optional<int> threads = {};
  /// Each CPU device uses the processors and memory of one NUMA node.
  bool numa_affinity = false;

  DataFormat format = DataFormat::automatic;
  /// The kernels and layouts of the plan; null: chosen by estimates.
  std::shared_ptr<const ChoicesFile> choices = {};
  /// The file that contains `choices`: the output of --dump=choices, or a record.
  std::optional<std::string> choices_file = {};
  ChosenBy chosen_by = ChosenBy::estimates;
  Autotune autotune = Autotune::off;
  /// Use only kernels that give the same bits each time.
  bool deterministic = false;
  /// The number of images that the network computes at a time, a divisor of the batch; unset: all.
  std::optional<std::int64_t> micro_batch = {};
  /// Convolutions on a CPU may use Winograd's algorithm.
  bool winograd = true;
  /// Gradients of embedding tables are never sparse.
  bool dense_gradients = false;
  /// The type of the input slots; with u8 the device normalizes the images.
  SlotType slots = SlotType::f32;

  Warmup warmup = {};
  StepCountOptions step_request = {};
  StepCount steps = {};
  /// The time limit of the run, warm-up included.
  std::optional<double> max_seconds = {};

  /// How the towers' gradients are added.
  struct Sharing {
    /// One device holds all variables.
    bool one_holder = false;
    /// Its 16-bit type is resolved later: see strategy_settings().
    SumSettings sums = {};
    /// The fastest algorithm is chosen by timing.
    bool timed = false;
    bool nccl_timed = false;
  };
  Sharing sharing = {};

  /// Options that control how the run's graph is planned.
  [[nodiscard]] LoweringOptions lowering() const {
    return {.format = format,
            .pinned = choices == nullptr ? nullptr : &choices->choices,
            .deterministic = deterministic,
            .pixels = slots == SlotType::u8 ? "images" : ""};
  }
};

/// What a run prints and writes.
struct Outputs {
  OutputFiles files = {};
  /// The files from which flags were read, which no output may overwrite.
  std::vector<std::string> flag_files = {};
  CheckpointSettings checkpoints = {};
  EventSettings events = {};
  RecordSettings record = {};
  LineSettings lines = {};
  bool profile = false;
  /// --diagnose_input: seconds per measurement.
  std::optional<double> diagnose_input = {};
  /// Print quantiles of the step times.
  bool latency = false;
  DumpSettings dump = {};
};

/// Evaluations on the validation subset: of a run that only evaluates, or during training.
struct EvaluationSettings {
  /// Images per step and device during training; unset: as in training.
  std::optional<std::int64_t> batch = {};
  /// The requested length.
  StepCountOptions step_request = {};
  /// The length as a number of whole passes over a dataset; 0 if it is another.
  std::int64_t passes = 0;
  /// During training: after every N measured steps or epochs, or after each of these.
  std::optional<std::int64_t> every_steps = {};
  std::optional<double> every_epochs = {};
  std::vector<std::int64_t> at_steps = {};
  std::vector<double> at_epochs = {};
  /// End the training when an evaluation reaches this share.
  std::optional<double> stop_at_top_1 = {};
  /// The folder for events; unset: none.
  std::optional<std::string> events = {};
  /// A run that only evaluates looks for a new checkpoint every N seconds; 0: it evaluates once.
  std::int64_t interval_seconds = 0;

  [[nodiscard]] bool during_training() const {
    return every_steps || every_epochs || !at_steps.empty() || !at_epochs.empty();
  }
};

/// The resolved settings of a run, from its flags, with every default filled in.
struct RunSettings {
  Workload workload = {};
  Execution execution = {};
  EvaluationSettings evaluation = {};
  Outputs outputs = {};
  /// Sentences for the user about differences from the requested settings.
  std::vector<std::string> notices = {};
};

/// The settings of the same run with another number of images per step. Adjusts the learning rate,
/// and the steps of a given number of epochs. Throws like plan_steps().
RunSettings with_batch(RunSettings settings, std::int64_t batch);

/// The number of images that the network of a tower computes at a time.
std::int64_t images_at_once(const RunSettings& settings);
/// How often it runs in a step.
std::int64_t runs_per_step(const RunSettings& settings);

/// The default number of classes: the model's own, or else the dataset's.
std::int64_t own_classes(const Model& model, const Dataset& dataset);

/// The step number for dropout and drop-path: -1 turns them off with --deterministic_layers.
std::int32_t layer_step(const Workload& workload, std::int64_t global_step);

/// The loss scaling rule of a run; only 16-bit types scale the loss.
LossScaleRule loss_scale_rule(const Workload& workload);

/// True if every tower gets the sums of all towers' gradients.
bool all_reduces(const Workload& workload);

/// The settings of one of the run's towers.
RunSettings of_tower(RunSettings settings, int tower);

/// The settings of the run's strategy, once the run's type is resolved. The L2 term is in every
/// tower's loss, so the decay is summed if gradients are summed.
StrategySettings strategy_settings(const RunSettings& settings);

/// The factor by which an update multiplies the reduced gradients.
double gradient_scale(const Workload& workload);

}  // namespace bench

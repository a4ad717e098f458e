#include "bench/plan/resolve_settings.h"

#include <algorithm>

#include "bench/flags/batch_request.h"
#include "bench/flags/combinations.h"
#include "bench/flags/near.h"
#include "bench/flags/resolve.h"
#include "bench/plan/choices_file.h"
#include "bench/plan/evaluation_settings.h"
#include "bench/plan/idle_flags.h"
#include "bench/plan/input_settings.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_sharing.h"
#include "bench/plan/rounding_notices.h"
#include "bench/plan/training_settings.h"
#include "kernels/gpu_provider.h"
#include "models/base/errors.h"
#include "models/passes/mixed_precision.h"

namespace bench {
namespace {

/// The dataset of the run. Without --data_name: the model's own if imagenet does not have the
/// model, else the one that --data_dir names, or imagenet.
const Dataset& resolve_dataset(const Flags& flags) {
  if (flags.data_dir) {
    check_data_folder(*flags.data_dir);
  }
  if (!flags.data_name && find_model(flags.model, kDefaultDataset) == nullptr) {
    const auto models = all_models();
    const auto found = std::find_if(models.begin(), models.end(),
                                    [&](const Model& model) { return model.name == flags.model; });
    if (found != models.end()) {
      return dataset_named(found->dataset);
    }
  }
  return dataset_named(resolve_data_name(flags));
}

const Model& resolve_model(const Flags& flags, const Dataset& dataset) {
  if (const Model* model = find_model(flags.model, dataset.name)) {
    return *model;
  }
  for (const Model& model : all_models()) {
    if (model.name == flags.model) {
      throw UsageError(
          fmt::format("--model={} is a network for {}, but the dataset is {}; give --data_name={}",
                      flags.model, model.dataset, dataset.name, model.dataset));
    }
  }
  throw unknown_model(flags.model);
}

/// Throws UsageError if a flag is for the classification of images, or for a number of classes that
/// the model fixes.
void check_flags_of_number_model(const Flags& flags, const Model& model, bool evaluates) {
  if (model.classifies_images()) {
    return;
  }
  const bool asks_for_u8 = flags.input_transfer == "uint8";
  if (!model.reads_images() && (flags.image_size || asks_for_u8)) {
    throw UsageError(fmt::format("--{} is for images, but --model={} reads none; omit this flag",
                                 asks_for_u8 ? "input_transfer=uint8" : "image_size", model.name));
  }
  if (!model.reads_images() && flags.diagnose_input) {
    throw UsageError(fmt::format(
        "--diagnose_input repeats batches of images, but --model={} reads none; omit this flag",
        model.name));
  }
  if (flags.image_size) {
    throw UsageError(
        fmt::format("--image_size: the images of {} always have {} x {} pixels; omit this flag",
                    model.name, model.image_size, model.image_size));
  }
  if (asks_for_u8) {
    throw UsageError(
        fmt::format("--input_transfer=uint8: the host normalizes the images of {}; omit this flag",
                    model.name));
  }
  if (flags.input_file) {
    throw UsageError(fmt::format(
        "--input_file has images and labels, but --model={} does not classify images; omit this "
        "flag",
        model.name));
  }
  if (flags.num_classes && model.num_classes > 0 && !model.reads_images()) {
    throw UsageError(fmt::format("--num_classes: {} always has {} classes; omit this flag",
                                 model.name, model.num_classes));
  }
  if (!model.classifies()) {
    const auto refuse_loss = [&](std::string_view flag) {
      throw UsageError(
          fmt::format("--{} needs a cross-entropy loss, but --model={} has another; omit this flag",
                      flag, model.name));
    };
    if (flags.label_smoothing > 0) {
      refuse_loss("label_smoothing");
    }
    if (flags.print_training_accuracy) {
      refuse_loss("print_training_accuracy");
    }
  }
  if (flags.dtype == "int8") {
    throw UsageError(fmt::format(
        "--model={}: --dtype=int8 works only with networks that classify images", model.name));
  }
  if (evaluates && model.metric() == ModelMetric::none) {
    throw UsageError(
        fmt::format("{}: {} cannot be evaluated, because bench reads no real data for it",
                    flags.eval ? "--eval" : "--eval_during_training_...", model.name));
  }
  if (evaluates && model.metric() == ModelMetric::average_precision && !flags.data_dir) {
    throw UsageError(fmt::format("--model={}: {} needs real images; give --data_dir", model.name,
                                 flags.eval ? "--eval" : "an evaluation during training"));
  }
  if (flags.stop_at_top_1_accuracy && model.metric() != ModelMetric::average_precision) {
    throw UsageError(fmt::format(
        "--stop_at_top_1_accuracy: the evaluation of {} computes no accuracy; omit this flag",
        model.name));
  }
}

/// Throws the UsageError of building the network, before any other work is done.
void check_network(const RunSettings& settings, bool size_given) {
  const Workload& workload = settings.workload;
  if (workload.aux_head) {
    RunSettings own_size = settings;
    own_size.workload.image_size = workload.model->image_size;
    own_size.workload.mode = RunMode::training;  // Inference has no such head, whatever the model.
    build_run_network(own_size.workload, 1);
  }
  if (!size_given) {
    return;
  }
  try {
    build_run_network(workload, 1);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--image_size={} does not fit --model={}: {}", workload.image_size,
                                 workload.model->name, error.what()));
  }
}

DataFormat format_named(std::string_view name) {
  if (name == "NCHW") {
    return DataFormat::nchw;
  }
  return name == "NHWC" ? DataFormat::nhwc : DataFormat::automatic;
}

DType dtype_named(std::string_view name) {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f64}) {
    if (name_of(dtype) == name) {
      return dtype;
    }
  }
  return DType::f32;
}

OutputFiles files_of(const Flags& flags) {
  return {.save_variables = flags.save_variables,
          .dump_tensors = flags.dump_tensors,
          .trace = flags.trace_file.empty() ? std::nullopt : std::optional(flags.trace_file),
          .result = flags.result_file,
          .benchmark_logs = flags.benchmark_log_dir};
}

DumpSettings dump_of(const Flags& flags) {
  const auto asked = [&](std::string_view what) {
    return std::find(flags.dump.begin(), flags.dump.end(), what) != flags.dump.end();
  };
  return {.graph = asked("graph"),
          .plan = asked("plan"),
          .choices = asked("choices"),
          .fusions = asked("fusions")};
}

std::optional<int> threads_of(const Flags& flags) {
  const std::int64_t threads = flags.num_intra_threads.value_or(0);
  return threads == 0 ? std::nullopt : std::optional(static_cast<int>(threads));
}

GpuSettings gpu_of(const Flags& flags) {
  return {.plan_for = flags.plan_for,
          .virtual_towers = flags.virtual_gpus > 0,
          .memory_fraction =
              flags.gpu_memory_frac_for_testing == 0 ? 1 : flags.gpu_memory_frac_for_testing,
          .conv_statistics = flags.conv_statistics,
          .conv_prologue = flags.conv_prologue,
          .recording = flags.cuda_graph == "off"  ? StepRecording::off
                       : flags.cuda_graph == "on" ? StepRecording::on
                                                  : StepRecording::automatic};
}

// Each of these three functions reads the settings that depend on one flag or a few, independently
// of the others.

Workload read_workload(const ParseResult& parsed) {
  const Flags& flags = parsed.flags;
  return {.mode = flags.eval           ? RunMode::evaluation
                  : flags.forward_only ? RunMode::forward_only
                                       : RunMode::training,
          .dtype = dtype_named(flags.dtype),
          .choose_half = flags.use_fp16,
          .int8 = flags.dtype == "int8",
          .calibration_batches = flags.calibration_batches,
          .tf32 = flags.use_tf32,
          .batch_request = parsed.batch,
          .towers = static_cast<int>(std::max(flags.num_gpus, flags.virtual_gpus)),
          .aux_head = flags.aux_head,
          .label_smoothing = flags.label_smoothing,
          .freeze = flags.freeze_when_forward_only,
          .deterministic_layers = flags.deterministic_layers,
          .print_training_accuracy = flags.print_training_accuracy,
          .seed = static_cast<std::uint64_t>(flags.tf_random_seed),
          .input = input_of(flags),
          .init_from = flags.backbone_model_path ? flags.backbone_model_path : flags.init_from,
          .init_from_partial = flags.init_from_partial || flags.backbone_model_path,
          .init_flag = flags.backbone_model_path ? "backbone_model_path" : "init_from",
          .loss_scale = {.initial = flags.fp16_loss_scale,
                         .automatic = flags.fp16_enable_auto_loss_scale,
                         .increase_every = flags.fp16_inc_loss_scale_every_n},
          .strategy = &find_strategy(flags.variable_update),
          .relaxed = flags.variable_consistency == "relaxed",
          .staged = flags.staged_vars};
}

Execution read_execution(const Flags& flags) {
  return {.batch_group_size = flags.batch_group_size,
          .gpu = gpu_of(flags),
          .threads = threads_of(flags),
          .numa_affinity = flags.use_numa_affinity,
          .choices_file = flags.choices_file,
          .deterministic = flags.deterministic,
          .micro_batch = flags.micro_batch,
          .winograd = flags.winograd,
          .dense_gradients = flags.sparse_to_dense_grads,
          .warmup = plan_warmup({.num_warmup_batches = flags.num_warmup_batches,
                                 .autotune_threshold = flags.autotune_threshold,
                                 .batch_group_size = flags.batch_group_size}),
          .max_seconds = flags.max_seconds};
}

Outputs read_outputs(const ParseResult& parsed) {
  const Flags& flags = parsed.flags;
  return {
      .files = files_of(flags),
      .flag_files = parsed.flag_files,
      .checkpoints = {.folder = flags.eval ? std::nullopt : flags.train_dir,
                      .every_steps = flags.save_model_steps,
                      .every_seconds = flags.save_model_secs,
                      .keep = flags.max_ckpts_to_keep},
      .events = {.verbosity = flags.summary_verbosity, .every_steps = flags.save_summaries_steps},
      .record = record_settings_of(flags),
      .lines = {.every = flags.display_every,
                .ewma = flags.display_perf_ewma,
                .loss = flags.loss_type_to_report == "base_loss" ? ReportedLoss::base
                                                                 : ReportedLoss::total},
      .profile = flags.profile,
      .diagnose_input = flags.diagnose_input,
      .latency = flags.latency,
      .dump = dump_of(flags)};
}

/// The reason why a run without device flags does not use a GPU; empty if it does.
std::string why_no_gpu(const Flags& flags) {
  return flags.device || flags.plan_for ? "" : find_gpus().why_none;
}

/// Throws UsageError if --plan_for is combined with flags that need a device.
void check_plan_for(const RunSettings& settings) {
  const Execution& execution = settings.execution;
  if (!execution.gpu.plan_for) {
    return;
  }
  if (execution.device != RunDevice::gpu) {
    throw UsageError(fmt::format("--plan_for is for GPUs and cannot be combined with --device={}",
                                 execution.device_label));
  }
  if (!settings.outputs.dump.any()) {
    throw UsageError(fmt::format("--plan_for={} only plans: add what to print, such as --dump=plan",
                                 *execution.gpu.plan_for));
  }
  if (settings.workload.choose_half) {
    throw UsageError(
        fmt::format("--use_fp16 cannot be combined with --plan_for={}: choosing the faster type "
                    "needs the GPU; use --dtype=f16, or --dtype=bf16 if the GPU supports it",
                    *execution.gpu.plan_for));
  }
}

/// The default is to time kernels on a GPU, because its libraries' kernels differ more than
/// estimates can predict. Throws UsageError if there is nothing to time.
Autotune autotune_of(const Flags& flags, const Execution& execution) {
  if (flags.autotune == "off") {
    return Autotune::off;
  }
  if (flags.autotune && execution.gpu.plan_for) {
    throw UsageError(
        fmt::format("--autotune={} cannot be combined with --plan_for={}, a card that need not be "
                    "present: omit --autotune",
                    *flags.autotune, *execution.gpu.plan_for));
  }
  if (flags.autotune) {
    return flags.autotune == "full" ? Autotune::full : Autotune::quick;
  }
  const bool computes_on_gpu = execution.device == RunDevice::gpu && !execution.gpu.plan_for;
  return computes_on_gpu && !flags.choices_file && !flags.verify ? Autotune::quick : Autotune::off;
}

/// Throws UsageError for types that exclude each other or another flag.
void check_types(const RunSettings& settings, const ParseResult& parsed) {
  const Flags& flags = parsed.flags;
  if (settings.workload.dtype == DType::f64 && settings.execution.device != RunDevice::reference) {
    throw UsageError(
        fmt::format("--dtype=f64: --device={} does not compute in f64; use --device=reference",
                    settings.execution.device_label));
  }
  if (flags.use_fp16 && parsed.given.contains("dtype")) {
    throw UsageError(fmt::format(
        "--use_fp16 chooses the type and cannot be combined with --dtype={}", flags.dtype));
  }
}

}  // namespace

RunSettings resolve_settings(const ParseResult& parsed, const ProcessPlace& place) {
  const Flags& flags = parsed.flags;
  RunSettings settings{.workload = read_workload(parsed),
                       .execution = read_execution(flags),
                       .outputs = read_outputs(parsed)};
  Workload& workload = settings.workload;
  Execution& execution = settings.execution;
  workload.process = place.process;
  workload.processes = place.processes;
  workload.servers = place.servers;
  workload.asynchronous = !flags.cross_replica_sync;
  if (flags.train_dir && place.servers > 0) {
    throw UsageError(
        "--train_dir: checkpoints of parameter servers are not supported yet; omit it");
  }
  if (flags.latency && place.processes > 1) {
    throw UsageError("--latency measures one device: start one process");
  }
  workload.dataset = &resolve_dataset(flags);
  workload.model = &resolve_model(flags, *workload.dataset);
  check_torchvision(flags, *workload.model);
  settings.evaluation = read_evaluation(flags, *workload.dataset);
  const bool evaluates = flags.eval || settings.evaluation.during_training();
  check_flags_of_number_model(flags, *workload.model, evaluates);
  if (evaluates && (place.processes > 1 || place.servers > 0)) {
    throw UsageError("an evaluation by several processes is not supported yet; use one process");
  }
  if (workload.input.dataset) {
    DatasetOptions data = *workload.input.dataset;
    for (const bool training : {true, false}) {
      data.training = training;
      if (training ? !flags.eval : evaluates) {
        check_dataset_folder(*workload.dataset, data);
      }
    }
  }
  if (flags.eval) {
    workload.init_from = checkpoint_to_evaluate(flags);
    execution.warmup = {.num_batches = 0, .rounded_up = false};
    if (workload.input.dataset) {
      workload.input.dataset->training = false;
    }
  }
  if (workload.input.dataset) {
    workload.input.record_bytes =
        record_memory(*workload.dataset, *workload.input.dataset, place.processes > 1);
  }
  const Placement placement = resolve_placement(flags, why_no_gpu(flags));
  execution.device = device_named(placement.device);
  const auto given = parsed.given.find("device");
  execution.device_label = given == parsed.given.end() ? placement.device : given->second;
  const std::string_view reduces_on = execution.device == RunDevice::gpu ? "gpu" : "cpu";
  if (flags.variable_update == "horovod" && !flags.horovod_device.empty() &&
      flags.horovod_device != reduces_on) {
    throw UsageError(fmt::format(
        "--horovod_device={}: a run with --device={} reduces gradients there; omit this flag",
        flags.horovod_device, placement.device));
  }
  execution.horovod_device = flags.horovod_device;
  execution.slots = slot_type_of(flags, execution.device, workload);
  check_plan_for(settings);
  if (execution.gpu.virtual_towers && execution.device != RunDevice::gpu) {
    find_gpus().check_any(fmt::format("--virtual_gpus={}", flags.virtual_gpus));
  }
  execution.autotune = autotune_of(flags, settings.execution);
  execution.format = format_named(placement.data_format);
  if (flags.choices_file) {
    execution.choices = std::make_shared<ChoicesFile>(read_choices(*flags.choices_file));
    execution.chosen_by = ChosenBy::file;
    settings.notices.push_back(
        fmt::format("kernels and layouts come from --choices_file={}", *flags.choices_file));
  }
  check_types(settings, parsed);
  const auto add_notices = [&](const std::vector<std::string>& notices) {
    settings.notices.insert(settings.notices.end(), notices.begin(), notices.end());
  };
  add_notices(parsed.notices);
  add_notices(placement.notices);
  add_notices(idle_flag_notices(settings, parsed));
  add_notices(rounding_notices(settings));
  workload.image_size = flags.image_size.value_or(workload.model->image_size);
  constexpr std::int64_t kOfficialSide = 256;
  if (flags.input_preprocessor == "official_models_imagenet" && evaluates &&
      workload.dataset->name == kDefaultDataset && workload.image_size > kOfficialSide) {
    throw UsageError(fmt::format(
        "--input_preprocessor=official_models_imagenet evaluates images of at most {} pixels per "
        "side, but --model={} uses {}; give a smaller --image_size",
        kOfficialSide, workload.model->name, workload.image_size));
  }
  workload.num_classes =
      flags.num_classes.value_or(own_classes(*workload.model, *workload.dataset));
  check_network(settings, flags.image_size.has_value());
  const std::int64_t examples = workload.dataset->examples(/*training=*/true);
  execution.step_request = flags.eval ? settings.evaluation.step_request
                                      : StepCountOptions{.num_batches = flags.num_batches,
                                                         .num_epochs = flags.num_epochs,
                                                         .examples_per_epoch = examples};
  workload.optimizer = {.rule = rule_of(flags),
                        .weight_decay = flags.weight_decay,
                        .clip = flags.gradient_clip,
                        .dtype = accumulation_type(workload.dtype)};
  workload.learning_rate = learning_rate_of(flags, *workload.model, examples);
  resolve_sharing(settings, parsed);
  adapt_learning_rate(settings);
  const BatchRequest& request = workload.batch_request;
  const std::int64_t batch = request.rule == BatchRequest::Rule::given
                                 ? request.sizes.at(0)
                                 : workload.model->default_batch;
  return with_batch(settings, flags.eval ? settings.evaluation.batch.value_or(batch) : batch);
}

}  // namespace bench

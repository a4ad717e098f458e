#include "bench/report/build_record.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>

#include "bench/flags/table.h"
#include "bench/plan/graph_counts.h"
#include "bench/plan/input.h"
#include "bench/plan/memory_check.h"
#include "bench/report/input_record.h"
#include "bench/report/scaling.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "pipeline/input.h"
#include "results/environment/machine.h"
#include "results/environment/process_settings.h"
#include "results/environment/storage.h"
#include "results/record/build_info.h"
#include "results/record/identity.h"
#include "results/record/run_metrics.h"

namespace bench {
namespace {

/// Records the separate files of a sweep's run instead of those that the flags name.
void put_files(const OutputFiles& files, results::FlagValues& values) {
  for (const auto& [flag, path] :
       {std::pair{"result_file", &files.result}, std::pair{"save_variables", &files.save_variables},
        std::pair{"trace_file", &files.trace}}) {
    if (const auto value = values.find(flag); *path && value != values.end()) {
      value->second = **path;
    }
  }
}

results::FlagValues explicit_flags(const RunSettings& settings, const ParseResult& parsed) {
  results::FlagValues values;
  for (const auto& [name, value] : flag_values(parsed.flags)) {
    if (parsed.given.find(name) != parsed.given.end()) {
      values[std::string(name)] = value;
    }
  }
  if (const auto batch = values.find("batch_size"); batch != values.end()) {
    // With a list, auto or max, the value is the batch size of this run.
    const bool own = settings.workload.batch_request.rule == BatchRequest::Rule::model;
    batch->second = own ? std::int64_t{0} : settings.workload.batch;
  }
  put_files(settings.outputs.files, values);
  return values;
}

bool pixels_travel(const Execution& execution) { return execution.slots == SlotType::u8; }

/// The type of what the input passes to the device.
std::string input_type(const RunSettings& settings) {
  if (settings.workload.model->reads_images()) {
    return pixels_travel(settings.execution) ? "u8" : "f32";
  }
  return std::string(name_of(number_inputs(settings.workload).front().dtype));
}

/// All flags with their effective values; unset flags that have a default rule are filled in.
results::FlagValues effective_flags(const RunSettings& settings, const ParseResult& parsed) {
  const Workload& workload = settings.workload;
  results::FlagValues values;
  for (const auto& [name, value] : flag_values(parsed.flags)) {
    values[std::string(name)] = value;
  }
  put_files(settings.outputs.files, values);
  values["num_classes"] = workload.num_classes;
  const LearningRateOptions& rate = workload.learning_rate;
  if (!rate.request.init_learning_rate && !rate.request.piecewise_schedule) {
    // No flag sets the rates of the other models.
    if (const auto constant = constant_rate(rate.model)) {
      values["init_learning_rate"] = *constant / rate.model_divisor;
    } else if (rate.model == ModelRate::resnet) {
      values["resnet_base_lr"] = rate.resnet_base;
    }
  }
  if (workload.reduction) {
    values["gradient_reduction"] = std::string(name_of(*workload.reduction));
  }
  if (const auto& dataset = workload.input.dataset) {
    values["jpeg_dct"] = std::string(dataset->accurate_dct ? "accurate" : "original");
  }
  values["autotune"] = std::string(name_of(settings.execution.autotune));
  values["input_transfer"] = std::string(pixels_travel(settings.execution) ? "uint8" : "float");
  return values;
}

/// The flags of a run, each with those of the same effect.
results::RunFlags flags_of(const RunSettings& settings, const ParseResult& parsed,
                           const std::vector<std::string>& command_line) {
  results::RunFlags flags{.given = explicit_flags(settings, parsed), .command_line = command_line};
  for (const auto& [name, value] : effective_flags(settings, parsed)) {
    switch (find_flag(name)->effect) {
      case FlagEffect::kWorkload:
        flags.workload[name] = value;
        break;
      case FlagEffect::kMember:
        break;
      case FlagEffect::kExecution:
        flags.execution[name] = value;
        break;
      case FlagEffect::kOutputOnly:
        flags.output[name] = value;
        break;
    }
  }
  return flags;
}

std::vector<results::Implementation> implementations(const LoweredGraph& plan) {
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> counts;
  for (const Step& step : plan.steps) {
    const Buffer& first = plan.buffers[step.outputs.at(0)];
    ++counts[{step.op, step.implementation, first.layout.token()}];
  }
  std::vector<results::Implementation> result;
  for (const auto& [key, count] : counts) {
    result.push_back({.op = std::get<0>(key),
                      .implementation = std::get<1>(key),
                      .layout = std::get<2>(key),
                      .count = count});
  }
  return result;
}

std::vector<std::string> tokens_of(const std::vector<Layout>& layouts) {
  std::vector<std::string> tokens;
  for (const Layout& layout : layouts) {
    tokens.push_back(layout.token());
  }
  return tokens;
}

results::Choices choices_of(const RunSettings& settings, const Choices& choices) {
  results::Choices result{.by = std::string(name_of(settings.execution.chosen_by)),
                          .made_for = flags_of_choices(settings)};
  for (const auto& [name, choice] : choices.nodes) {
    result.nodes[name] = {.implementation = choice.implementation,
                          .inputs = tokens_of(choice.inputs),
                          .outputs = tokens_of(choice.outputs)};
  }
  for (const auto& [name, layout] : choices.held) {
    result.held[name] = layout.token();
  }
  return result;
}

std::string data_of(const Workload& workload) {
  if (workload.input.file) {
    return "file";
  }
  return std::string(
      workload.synthetic() ? "synthetic" : data_format(*workload.dataset, *workload.input.dataset));
}

Captured<results::Storage> storage_of(const Workload& workload, const SystemFiles& files) {
  if (!workload.input.dataset) {
    return Unknown{workload.synthetic() ? "synthetic data are not read from a file"
                                        : "the whole file is read before the run"};
  }
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(workload.input.dataset->data_dir, error);
  if (error) {
    return Unknown{fmt::format("{}: {}", workload.input.dataset->data_dir, error.message())};
  }
  return capture_storage(files, folder.string());
}

/// The power while the steps were timed: of all GPUs together if they computed, else of the
/// processors.
Captured<double> mean_watts(const results::Record& record, const SessionResult& session) {
  constexpr std::int64_t kNegligible = 100;
  if (record.workload.processes > 1) {
    return Unknown{"the energy of the other processes was not measured"};
  }
  if (session.paused > session.wall / kNegligible) {
    return Unknown{"evaluations and checkpoints also used energy"};
  }
  if (record.gpus.empty()) {
    if (!record.energy.joules.known()) {
      return Unknown{record.energy.joules.why()};
    }
    const std::chrono::duration<double> counted = session.wall + session.printing;
    return record.energy.joules.value() / counted.count();
  }
  double watts = 0;
  for (const results::Gpu& gpu : record.gpus) {
    if (!gpu.watched.known()) {
      return Unknown{gpu.watched.why()};
    }
    const Captured<double> one = results::counted_watts(gpu.watched.value());
    if (!one.known()) {
      return one;
    }
    watts += one.value();
  }
  return watts;
}

Captured<std::span<const std::chrono::nanoseconds>> device_steps_of(const SessionResult& session,
                                                                    bool evaluation) {
  if (session.device_steps.empty()) {
    return Unknown{session.steps.empty() ? "no timed step was completed"
                   : evaluation
                       ? "an evaluation does not time the device"
                       : "the device uses the host's memory, so its time is the step's time"};
  }
  return std::span<const std::chrono::nanoseconds>(session.device_steps);
}

/// The time of a mean step on each tower, by part.
void add_tower_times(std::vector<results::TowerTimes>& towers, const SessionResult& session) {
  const auto steps = static_cast<double>(session.own_steps);
  const auto mean = [&](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count() / steps;
  };
  for (std::size_t i = 0; i < towers.size(); ++i) {
    if (session.own_steps == 0 || session.shares.size() != towers.size()) {
      towers[i].mean.set_unknown(
          Unknown{session.own_steps == 0 ? "no step was completed" : std::string(kNotTimedByPart)});
      continue;
    }
    const StepTimes& share = session.shares[i];
    towers[i].mean = {.input = mean(share.input),
                      .computing = mean(share.computing),
                      .exposed_communication = mean(share.exposed_communication),
                      .updating = mean(share.updating),
                      .host = mean(share.host),
                      .waiting = mean(share.waiting)};
  }
}

/// Why a run has no top-1 accuracy.
const char* why_no_accuracy(const Workload& workload) {
  if (!workload.model->classifies()) {
    return "the model has no accuracy";
  }
  if (workload.evaluation() && workload.model->metric() != ModelMetric::accuracy) {
    return "the evaluation of this model computes no accuracy";
  }
  return workload.accuracies() ? "no step was completed"
                               : "accuracies were not requested (--print_training_accuracy)";
}

}  // namespace

results::Record begin_record(const RunSettings& settings, const ParseResult& parsed,
                             const std::vector<std::string>& command_line,
                             const SystemFiles& files) {
  const Workload& workload = settings.workload;
  const Execution& execution = settings.execution;
  results::Record record;
  record.time.start_utc = std::chrono::system_clock::now();
  record.time.monotonic_ns = SteadyClock().now();
  record.time.tz = capture_time_zone();
  record.time.clocksource = capture_clocksource(files);
  record.run_uuid = results::new_run_uuid(record.time.start_utc);
  record.labels = settings.outputs.record.labels;
  record.cost = settings.outputs.record.cost;
  record.workload = {.model = std::string(workload.model->name),
                     .printed_model = std::string(workload.model->printed_name),
                     .mode = workload.training()     ? "train"
                             : workload.evaluation() ? "eval"
                                                     : "fwd",
                     .data = data_of(workload),
                     .batch_per_device = workload.batch,
                     .devices = workload.all_towers(),
                     .processes = workload.processes,
                     .global_batch = workload.global_batch(),
                     .dtype = workload.int8 ? "int8" : std::string(name_of(workload.dtype)),
                     .layout = std::string(name_of(execution.format)),
                     .image_size = static_cast<int>(workload.image_size),
                     .optimizer = std::string(row_of(workload.optimizer.rule).name),
                     .variable_update = std::string(workload.strategy->name),
                     .num_batches = execution.steps.num_batches,
                     .num_epochs = execution.steps.num_epochs,
                     .warmup = execution.warmup.num_batches,
                     .seed = static_cast<std::int64_t>(workload.seed)};
  record.flags = flags_of(settings, parsed, command_line);
  record.dataset.name = std::string(workload.dataset->name);
  record.dataset.image_type = input_type(settings);
  record.dataset.image_bytes = static_cast<std::int64_t>(slot_image_bytes(settings));
  record.dataset.storage = storage_of(workload, files);
  record.source = results::source_info();
  record.build = results::build_info();
  record.host = capture_host(files);
  record.cpu = capture_cpu(files);
  record.memory = capture_memory(files);
  record.process = capture_process(files);
  record.env = capture_environment_variables(environ);
  if (settings.outputs.files.benchmark_logs) {
    record.tensorflow_env = capture_tensorflow_variables(environ);
  }
  record.load.before = capture_load(files);
  return record;
}

void add_plan(results::Record& record, const RunSettings& settings, std::span<const Device> devices,
              const Executor& executor, const PlannedMemory& memory) {
  const Device& device = devices.front();
  const Graph& graph = executor.graph();
  record.workload.backend = std::string(device.backend->name());
  record.workload.model_params = count_variables(graph).trained.scalars;
  record.workload.flops_per_image = 2 * multiply_adds(graph) / images_at_once(settings);
  std::vector<int> processors;
  for (const Device& each : devices) {
    if (each.gpu && !processors.empty()) {
      break;  // All threads of the host serve every GPU.
    }
    processors.insert(processors.end(), each.processors.begin(), each.processors.end());
  }
  if (device.anywhere) {
    record.cpu.processors_used = Unknown{"its threads are not bound to processors"};
  } else {
    record.cpu.processors_used = processors;
  }
  if (devices.size() > 1 || settings.outputs.record.scaling) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const MemoryNeed planned = memory.of_tower(i);
      record.towers.push_back({.processors = devices[i].gpu || devices[i].anywhere
                                                 ? std::vector<int>()
                                                 : devices[i].processors,
                               .planned_host_bytes = static_cast<std::int64_t>(planned.host),
                               .planned_device_bytes = static_cast<std::int64_t>(planned.device)});
    }
  }
  record.flags.execution["num_intra_threads"] = static_cast<std::int64_t>(device.processors.size());
  if (settings.execution.micro_batch) {
    record.flags.execution["micro_batch"] = *settings.execution.micro_batch;
  }
  record.cpu.isa_used = device.isa;
  record.implementations = implementations(executor.plan());
  record.choices = choices_of(settings, executor.plan().choices);
  record.build.libs = loaded_libraries();
  record.build.libs.push_back({.name = std::string(device.backend->name()),
                               .version = device.library_version,
                               .so_path = Unknown{"the library reports only its version"},
                               .build_id = Unknown{"the library reports only its version"}});
}

void add_gpu_energy(results::Record& record) {
  results::Energy energy{.source = "nvml_total_energy",
                         .joules = 0.0,
                         .coverage = "boards of the GPUs, not the whole machine"};
  double sum = 0;
  for (std::size_t i = 0; i < record.gpus.size(); ++i) {
    const Captured<results::GpuWatched>& watched = record.gpus[i].watched;
    const Captured<double> joules =
        watched.known() ? watched.value().joules : Captured<double>(Unknown{watched.why()});
    if (!joules.known()) {
      record.energy.source = Unknown{joules.why()};
      record.energy.joules = Unknown{joules.why()};
      record.energy.coverage = Unknown{joules.why()};
      return;
    }
    energy.domains.push_back({.name = fmt::format("gpu-{}", i), .joules = joules.value()});
    sum += joules.value();
  }
  energy.joules = sum;
  // The processors' energy remains in the list but is not part of the sum.
  for (results::EnergyDomain& domain : record.energy.domains) {
    energy.domains.push_back(std::move(domain));
  }
  record.energy = std::move(energy);
}

void add_measurements(results::Record& record, const RunSettings& settings,
                      const Measurements& measured, const SystemFiles& files) {
  const SessionResult& session = measured.session;
  const auto known = [](const std::optional<double>& value, const char* why) {
    return value ? Captured<double>(*value) : Captured<double>(Unknown{why});
  };
  const char* const no_loss = "a forward-only run computes no loss, or no step was completed";
  const char* const no_accuracy = why_no_accuracy(settings.workload);
  std::vector<results::PlannedRegion> planned;
  for (const MemoryRegion& region : measured.memory.regions()) {
    planned.push_back(
        {.name = std::string(region.name), .bytes = static_cast<std::int64_t>(region.bytes)});
  }
  record.metrics = results::run_metrics(
      {.unit = std::string(settings.workload.model->unit().name),
       .units_per_step = settings.workload.units_per_step(),
       .steps = session.steps,
       .device_steps = device_steps_of(session, settings.workload.evaluation()),
       .wall = session.wall,
       .input_wait = session.input_wait,
       .setup = measured.setup,
       .peak_rss_bytes = measured.peak_rss,
       .watts = mean_watts(record, session),
       .planned = std::move(planned),
       .loss_first = known(session.loss_first, no_loss),
       .loss_last = known(session.loss_last, no_loss),
       .top1 = known(session.top_1, no_accuracy),
       .top5 = known(session.top_5, no_accuracy)});
  record.build.exe_sha256 = program_sha256();
  add_tower_times(record.towers, session);
  record.choices.reduced_on = session.reduced_on;
  if (settings.outputs.record.scaling && !session.steps.empty()) {
    record.scaling =
        scaling_of(*settings.outputs.record.scaling, record, settings.workload.units_per_step());
  }
  record.series.step_ns = session.steps;
  record.series.device_ns = session.device_steps;
  record.series.loss = session.losses;
  for (const report::Accuracies& step : session.accuracies) {
    record.series.top_1.push_back(step.top_1);
    record.series.top_5.push_back(step.top_5);
  }
  add_dataset(record.dataset, measured.input);
  record.input = input_record(settings, session);
  record.load.after = capture_load(files);
  add_losses(record, measured.times_before, files);
  record.time.end_utc = std::chrono::system_clock::now();
}

}  // namespace bench

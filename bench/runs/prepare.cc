#include "bench/runs/prepare.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <ostream>

#include "bench/loop/report.h"
#include "bench/loop/run_towers.h"
#include "bench/loop/session.h"
#include "bench/plan/choices_file.h"
#include "bench/plan/first_values.h"
#include "bench/plan/input.h"
#include "bench/plan/micro_batch.h"
#include "bench/plan/network.h"
#include "bench/plan/processor_shares.h"
#include "bench/plan/resolve_sharing.h"
#include "bench/plan/staging_allocator.h"
#include "bench/report/build_record.h"
#include "bench/report/tensor_dump.h"
#include "bench/runs/attempt.h"
#include "bench/runs/choose_kernels.h"
#include "bench/runs/conditions.h"
#include "bench/runs/fusion_gains.h"
#include "bench/runs/step_forecast.h"
#include "bench/terminal/stderr_lines.h"
#include "kernels/cpu/affinity.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/environment/cgroup.h"
#include "results/record/build_info.h"
#include "variable_mgmt/collectives/trial.h"

namespace bench {
namespace {

/// The devices of all processes, as tf_cnn_benchmarks names them.
std::vector<std::string> device_names(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  const std::string& label = settings.execution.device_label;
  std::vector<std::string> names;
  for (int process = 0; process < workload.processes; ++process) {
    for (int tower = 0; tower < workload.towers; ++tower) {
      names.push_back(
          workload.processes == 1 ? fmt::format("/{}:{}", label, tower)
          : workload.strategy->name == "horovod"
              ? fmt::format("horovod/{}:{}", label, process)
              : fmt::format("/job:worker/replica:0/task:{}/{}:{}", process, label, tower));
    }
  }
  return names;
}

std::string list_text(std::span<const int> numbers) {
  std::string text;
  for (const int number : numbers) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", number);
  }
  return text;
}

/// Describes where a tower computes.
std::string place_of(const Device& device) {
  if (device.gpu) {
    return fmt::format("{} at {}", device.gpu->name, device.gpu->pci_bus_id);
  }
  return device.anywhere ? "any processor"
                         : fmt::format("processors {}", list_text(device.processors));
}

/// Reports the resources of each of several towers.
void tell_towers(const Workload& workload, std::span<const Device> devices) {
  for (std::size_t tower = 0; workload.towers > 1 && tower < devices.size(); ++tower) {
    const Device& device = devices[tower];
    const std::int64_t first = static_cast<std::int64_t>(tower) * workload.batch;
    LOG(INFO) << fmt::format("note: tower {}: {}s {} to {} of each step, on {}", tower,
                             workload.model->example(), first, first + workload.batch - 1,
                             place_of(device));
  }
}

/// The processors of the threads that prepare images, among all that the process may use.
std::vector<int> input_processors(const RunSettings& settings, std::span<const Device> devices,
                                  const std::vector<int>& all) {
  // Only several CPU devices bind their threads to processors.
  if (!settings.workload.input.dataset || settings.execution.device != RunDevice::cpu ||
      settings.workload.towers == 1) {
    return all;
  }
  std::vector<std::vector<int>> taken;
  for (const Device& device : devices) {
    taken.push_back(device.processors);
  }
  // The user may request few threads on purpose; those of a scaling sweep were not requested.
  const bool wanted = settings.execution.threads && !settings.outputs.record.scaling;
  const auto decoding = static_cast<std::size_t>(settings.workload.input.dataset->num_threads);
  return processors_to_decode_on(all, taken, wanted ? 1 : decoding > 0 ? decoding : all.size());
}

/// Reports the processors of the threads that prepare a dataset's images.
void tell_input(const RunSettings& settings, const InputStatistics& input,
                std::span<const int> processors, std::span<const int> all) {
  if (!settings.workload.input.dataset || input.threads == 0) {
    return;
  }
  const std::string_view example = settings.workload.model->example();
  const std::string images = input.records > 0 ? fmt::format("the {} {}s", input.records, example)
                                               : fmt::format("{}s", example);
  const std::string prepare = input.threads == 1
                                  ? fmt::format("1 thread prepares {}", images)
                                  : fmt::format("{} threads prepare {}", input.threads, images);
  const std::string_view use = settings.execution.device != RunDevice::cpu ? ""
                               : processors.size() < all.size()            ? ", which no tower uses"
                                                                           : ", which also compute";
  LOG(INFO) << fmt::format("note: {} on processors {}{}", prepare, list_text(processors), use);
}

report::Header header_of(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  const Execution& execution = settings.execution;
  return {
      .version = results::source_info().bench_version,
      .model = std::string(workload.model->printed_name),
      .dataset = std::string(workload.dataset->name) + (workload.input.file ? " (file)" : ""),
      .synthetic = workload.synthetic(),
      .mode = workload.evaluation()                   ? "evaluation"
              : !workload.training()                  ? "forward only"
              : settings.evaluation.during_training() ? "training + evaluation"
                                                      : "training",
      .global_batch = workload.global_batch(),
      .batch_per_device = workload.batch,
      .batches_per_group = execution.batch_group_size,
      .num_batches = execution.steps.num_batches,
      .num_epochs = execution.steps.num_epochs,
      .devices = device_names(settings),
      .numa_bind = execution.numa_affinity,
      .data_format = std::string(name_of(execution.format)),
      .precision = describe_precision(workload),
      .optimizer = std::string(row_of(workload.optimizer.rule).name),
      .variable_update = std::string(workload.strategy->name),
      .all_reduce_spec = execution.sharing.timed ? "auto" : text_of(execution.sharing.sums.spec),
      .cross_replica_sync =
          workload.servers > 0 ? std::optional(!workload.asynchronous) : std::nullopt,
      .staged_vars = workload.staged,
      .horovod_device = workload.strategy->name == "horovod" ? execution.horovod_device : ""};
}

/// Prints what --dump requests.
void dump(RunSettings& settings, Device& device, const MemoryLimits& limits,
          Checkpointing* checkpoints, RunHost& host) {
  Backend& backend = *device.backend;
  std::ostream& out = host.streams.out;
  const Graph graph = build_run_graph(settings, backend, images_at_once(settings));
  if (settings.outputs.dump.graph) {
    out << graph;
  }
  if (settings.outputs.dump.fusions) {
    print_fusion_gains(settings, backend, out);
  }
  if (!settings.outputs.dump.plan && !settings.outputs.dump.choices) {
    return;
  }
  choose_kernels(settings, graph, device, limits, checkpoints, host);
  const std::unique_ptr<Plan> planned = naming_choices(settings, [&] {
    return std::make_unique<Plan>(graph, backend, settings.execution.lowering());
  });
  const Plan& plan = *planned;
  const PlannedMemory memory =
      run_memory(settings, backend, tower_plan(plan), settings.workload.batch);
  if (const auto short_of = memory_shortage(settings.workload, memory, limits)) {
    LOG(INFO) << "note: bench would refuse this run: " << *short_of;
  }
  if (settings.outputs.dump.plan) {
    out << plan.lowered;
    print_forecast(plan.lowered, settings, !backend.shares_host_memory(), out);
    out << stderr_line::planned_memory << ": " << memory << "\n";
  }
  if (settings.outputs.dump.choices) {
    out << to_text({.choices = plan.lowered.choices, .made_for = flags_of_choices(settings)});
  }
}

void print_beginning(const RunSettings& settings, std::ostream& out) {
  report::print_header(out, header_of(settings));
  if (settings.execution.warmup.rounded_up) {
    report::print_rounded_warm_up(out, settings.execution.warmup.num_batches);
  }
  report::print_generating_model(out, settings.workload.evaluation());
}

/// Makes the devices, and prints the notes about them and the settings.
std::span<Device> prepare_devices(Begun& begun, const RunTensorFiles& tensor_files, RunHost& host) {
  RunSettings& settings = begun.settings;
  const std::span<Device> devices = host.devices(settings);
  if (settings.workload.choose_half) {
    begun.file.record().workload.dtype = name_of(settings.workload.dtype);
  }
  choose_micro_batch(settings, *devices.front().backend);
  std::vector<std::string> notices = settings.notices;
  for (const Device& each : devices) {
    notices.insert(notices.end(), each.notices.begin(), each.notices.end());
  }
  for (const std::string& notice :
       {compact_gradients_notice(settings.workload), joined_gradients_notice(settings)}) {
    if (!notice.empty()) {
      notices.push_back(notice);
    }
  }
  for (const auto& all : {notices, tensor_files.notices()}) {
    for (const std::string& notice : all) {
      LOG(INFO) << "note: " << printable(notice);
    }
  }
  tell_towers(settings.workload, devices);
  check_choices(settings);
  return devices;
}

/// The network of a run, and the first values of its variables.
struct RunNetwork {
  InitialValues values;
  /// Set for a run in int8.
  std::optional<Quantization> quantization = {};
  Graph graph = {};
};

RunNetwork prepare_network(const RunSettings& settings, FirstValues& values, Backend& backend,
                           RunHost& host) {
  RunNetwork network{.values = values.get(host.phases)};
  host.phases.clear();
  if (settings.workload.int8) {
    network.quantization.emplace(settings, backend, network.values, host.streams.err,
                                 host.phases.of("calibrating int8", "batch"));
  }
  network.graph = network.quantization
                      ? network.quantization->graph()
                      : build_run_graph(settings, backend, images_at_once(settings));
  host.phases.clear();
  return network;
}

/// Makes the towers from the network, whose values they copy. Throws UsageError if they do not fit
/// in memory; `need_for` gives the need of other batches.
std::unique_ptr<Towers> prepare_towers(Begun& begun, std::span<Device> devices,
                                       const RunNetwork& network, const MemoryLimits& limits,
                                       const NeedForBatch& need_for, RunHost& host) {
  const RunSettings& settings = begun.settings;
  Backend& backend = *devices.front().backend;
  ExecutorOptions options{.format = settings.execution.format,
                          .pinned = settings.execution.lowering().pinned,
                          .deterministic = settings.execution.deterministic,
                          .pixels = settings.execution.lowering().pixels};
  // Set it separately: otherwise GCC considers the options uninitialized if the copy throws.
  options.admit = [&](const Plan& plan) {
    begun.memory = run_memory(settings, backend, tower_plan(plan), settings.workload.batch);
    check_memory(settings.workload, begun.memory, limits, need_for);
    host.phases.clear();
    host.streams.err << stderr_line::planned_memory << ": " << begun.memory << "\n";
  };
  TowerSources sources{.backends = {},
                       .graph =
                           [&](int number) {
                             // All towers run the one calibrated graph.
                             return number == 0 || network.quantization
                                        ? network.graph
                                        : build_run_graph(of_tower(settings, number), backend,
                                                          images_at_once(settings));
                           },
                       .options = options,
                       .values = network.values,
                       .world = host.world.others(),
                       .chose =
                           [&](const std::string& spec, const std::string& figures) {
                             LOG(INFO) << "note: --all_reduce_spec=auto: " << figures;
                             begun.file.record().timed_all_reduce = spec;
                           }};
  for (const Device& each : devices) {
    sources.backends.push_back(each.backend.get());
  }
  return naming_choices(settings,
                        [&] { return make_run_towers(settings, host.tower_threads(), sources); });
}

/// Makes the source of batches. Its threads use processors that no tower has, if possible.
std::unique_ptr<InputSource> prepare_input(const RunSettings& settings,
                                           std::span<const Device> devices, Tower& tower,
                                           RunHost& host) {
  const Device& device = devices.front();
  const std::vector<int> processors = input_processors(settings, devices, host.processors);
  std::unique_ptr<InputSource> input;
  {
    const cpu::WithProcessors not_the_towers(processors);
    std::optional<cpu::MemoryAsBefore> of_any_node;
    if (device.memory) {
      of_any_node.emplace(*device.memory);
    }
    input = make_run_input(settings, image_layout(settings.workload, tower.executor()),
                           host.input_watch(*settings.workload.model),
                           make_staging_allocator(*device.backend));
  }
  tell_input(settings, input->statistics(), processors, host.processors);
  host.phases.stop_if_asked("before the first step");
  host.phases.clear();
  return input;
}

}  // namespace

int processors_within_quota(const RunHost& host) {
  const auto quota = cgroup_cpu_quota(host.files);
  const std::size_t all = host.processors.size();
  return quota ? threads_within_quota(quota->processors, all) : static_cast<int>(all);
}

RunSettings with_input_threads(RunSettings settings, const RunHost& host) {
  auto& dataset = settings.workload.input.dataset;
  const int processors = processors_within_quota(host);
  if (dataset && dataset->num_threads == 0 && std::cmp_less(processors, host.processors.size())) {
    dataset->num_threads = processors;
  }
  return settings;
}

Begun begin_run(const RunRequest& request, const RunHost& host) {
  const RunSettings settings = with_input_threads(request.settings, host);
  const EnvironmentSnapshot before = read_environment(host.files, {});
  results::Record record = begin_record(settings, request.parsed, host.command_line, host.files);
  record.batch_choice = request.choice;
  return {.settings = settings,
          .begin = request.begin,
          .before = before,
          .file = RecordFile(settings.outputs, std::move(record), host.streams.out)};
}

void open_checkpoints(Begun& begun, RunHost& host) {
  RunSettings& settings = begun.settings;
  if (!settings.outputs.checkpoints.folder) {
    return;
  }
  const Graph network = build_run_network(settings.workload, settings.workload.batch);
  begun.checkpoints = agreed(*host.world.world, [&] {
    return std::make_unique<Checkpointing>(settings, begun.file.record().flags, network, host.clock,
                                           host.world.others());
  });
  begun.checkpoints->share(network, settings);
  for (const std::string& notice : begun.checkpoints->notices()) {
    LOG(INFO) << "note: " << notice;
  }
}

std::optional<Prepared> prepare(Begun& begun, RunHost& host) {
  RunSettings& settings = begun.settings;
  auto host_limit = memory_limit(host.files);
  if (const std::size_t others = host.world.neighbours.size(); others > 0 && host_limit.known()) {
    MemoryLimit shared = host_limit.value();
    shared.bytes /= static_cast<std::int64_t>(others + 1);
    shared.set_by += fmt::format(", shared by {} processes", others + 1);
    host_limit = shared;
  }
  check_variables_memory(settings, host_limit);
  std::optional<AtomicFile> trace;
  if (settings.outputs.files.trace) {
    trace.emplace(*settings.outputs.files.trace, "trace file");
  }
  const Graph network = build_run_network(settings.workload, settings.workload.batch);
  std::unique_ptr<Checkpointing>& checkpoints = begun.checkpoints;
  if (checkpoints != nullptr && checkpoints->nothing_left()) {
    return std::nullopt;
  }
  if (checkpoints != nullptr && checkpoints->steps_before() > 0 && settings.workload.init_from) {
    LOG(INFO) << fmt::format(
        "note: --{}: no effect, because the variables are those of the checkpoint",
        settings.workload.init_flag);
    settings.workload.init_from.reset();
  }
  RunTensorFiles tensor_files(settings, network);
  std::optional<FirstValues> values;
  if (!settings.outputs.dump.any()) {
    values.emplace(settings.workload, network, tensor_files);
  }

  const std::span<Device> devices = prepare_devices(begun, tensor_files, host);
  Device& device = devices.front();
  const MemoryLimits limits = limits_of_run(settings.execution, host_limit, devices);
  if (settings.outputs.dump.any()) {
    dump(settings, device, limits, checkpoints.get(), host);
    return std::nullopt;
  }
  const NeedForBatch need_for = [&](std::int64_t batch) {
    return limits.need_of(plan_run_memory(settings, *device.backend, batch));
  };
  // Planning requires that the images fit, so refuse other batches first.
  check_images_memory(settings.workload, limits, need_for);

  print_beginning(settings, host.streams.out);
  RunNetwork built = prepare_network(settings, *values, *device.backend, host);
  choose_kernels(settings, built.graph, device, limits, checkpoints.get(), host);
  if (!settings.workload.evaluation()) {
    report::print_initializing_graph(host.streams.out);
  }
  auto towers = prepare_towers(begun, devices, built, limits, need_for, host);
  built.values.clear();  // The towers have copies of them.
  auto input = prepare_input(settings, devices, towers->first(), host);
  if (tensor_files.dumps()) {
    dump_first_step(settings.workload, tensor_files, towers->first(), input->next(),
                    host.phases.of("computing the tensors", "step"));
    return std::nullopt;
  }

  std::unique_ptr<EventLog> events;
  if (settings.outputs.checkpoints.folder && settings.outputs.events.asked()) {
    events = std::make_unique<EventLog>(settings, checkpoints->steps_before(), host.clock);
  }
  std::unique_ptr<Evaluator> evaluator;
  if (settings.evaluation.during_training()) {
    evaluator = std::make_unique<Evaluator>(settings, devices, host);
  }
  results::Record& record = begun.file.record();
  add_plan(record, settings, devices, towers->first().executor(), begun.memory);
  auto sensors = describe_gpus(devices, host.world.neighbours, record);
  check_conditions(settings, begun.before, devices, host, record);
  return Prepared{.devices = devices,
                  .sensors = std::move(sensors),
                  .tensor_files = std::move(tensor_files),
                  .checkpoints = std::move(checkpoints),
                  .events = std::move(events),
                  .evaluator = std::move(evaluator),
                  .trace = std::move(trace),
                  .quantization = std::move(built.quantization),
                  .input = std::move(input),
                  .towers = std::move(towers),
                  .loaded_sum = values->loaded_sum()};
}

}  // namespace bench

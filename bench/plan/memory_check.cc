#include "bench/plan/memory_check.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "bench/plan/evaluation_settings.h"
#include "bench/plan/graph_counts.h"
#include "bench/plan/input.h"
#include "bench/plan/micro_batch.h"
#include "bench/plan/network.h"
#include "bench/verify/kernel_check.h"
#include "bench/verify/picks.h"
#include "models/base/errors.h"
#include "variable_mgmt/strategies/strategy.h"

namespace bench {
namespace {

std::string input_text(const PlannedMemory& memory) {
  return format_bytes(memory.input()) +
         (memory.records > 0 ? fmt::format(" ({} for records)", format_bytes(memory.records)) : "");
}

bool fits(std::size_t bytes, const Captured<MemoryLimit>& limit) {
  return !limit.known() || bytes <= static_cast<std::size_t>(limit.value().bytes);
}

/// Text that follows the number of bytes in a message to the user: "for its input alone".
struct NeedText {
  std::string host;
  std::string device;
};

/// Describes the first limit that is exceeded; nullopt if everything fits.
std::optional<std::string> shortage(const Workload& workload, const MemoryNeed& need,
                                    const MemoryLimits& limits, const NeedText& text) {
  const auto of_place = [&](std::size_t bytes, const MemoryLimit& limit, const std::string& what) {
    return fmt::format("--batch_size={} needs {} {}, but only {} is available ({})", workload.batch,
                       format_bytes(bytes), what,
                       format_bytes(static_cast<std::size_t>(limit.bytes)), limit.set_by);
  };
  if (!fits(need.host, limits.host)) {
    return of_place(need.host, limits.host.value(), text.host);
  }
  if (limits.device && !fits(need.device, *limits.device)) {
    return of_place(need.device, *limits.device, text.device);
  }
  return std::nullopt;
}

void check_need(const Workload& workload, const MemoryLimits& limits, const NeedForBatch& need_for,
                const std::optional<std::string>& short_of) {
  if (!short_of) {
    return;
  }
  const std::int64_t largest = largest_batch(workload, limits, need_for, workload.batch).batch;
  throw UsageError(largest == 0
                       ? fmt::format("{}; no batch fits", *short_of)
                       : fmt::format("{}; the largest batch that fits is {}", *short_of, largest));
}

/// The images of a batch. They count on the host and on a device with separate memory.
MemoryNeed images_need(const Workload& workload, std::int64_t batch) {
  const std::size_t bytes = image_bytes(workload, batch);
  return {.host = bytes, .device = bytes};
}

}  // namespace

std::size_t PlannedMemory::optimizer() const {
  std::size_t bytes = 0;
  for (const StrategyMemory& each : updates) {
    bytes += each.computing;
  }
  return bytes;
}

std::size_t PlannedMemory::communicator() const {
  std::size_t bytes = 0;
  for (const StrategyMemory& each : updates) {
    bytes += each.communicator;
  }
  return bytes;
}

MemoryNeed PlannedMemory::of_tower(std::size_t tower) const {
  const std::size_t host = updates[tower].communicator + input() / towers();
  return on_device ? MemoryNeed{.host = host, .device = computing(tower)}
                   : MemoryNeed{.host = host + computing(tower)};
}

std::size_t PlannedMemory::largest_tower() const {
  const auto largest = std::max_element(
      updates.begin(), updates.end(),
      [](const StrategyMemory& a, const StrategyMemory& b) { return a.computing < b.computing; });
  return static_cast<std::size_t>(largest - updates.begin());
}

std::vector<MemoryRegion> PlannedMemory::regions() const {
  std::vector<MemoryRegion> all = executor.regions();
  for (MemoryRegion& region : all) {
    region.bytes *= towers();
  }
  all.push_back({.name = "optimizer", .bytes = optimizer()});
  if (communicator() > 0) {
    all.push_back({.name = "communicator", .bytes = communicator()});
  }
  all.push_back({.name = "input", .bytes = input()});
  return all;
}

std::ostream& operator<<(std::ostream& out, const PlannedMemory& memory) {
  if (memory.towers() == 1) {
    return out << memory.executor << ", optimizer " << format_bytes(memory.optimizer())
               << ", input " << input_text(memory);
  }
  out << "per tower " << memory.executor << "; all " << memory.towers() << " towers "
      << format_bytes(memory.towers() * memory.executor.total()) << ", optimizer "
      << format_bytes(memory.optimizer());
  if (memory.communicator() > 0) {
    out << ", communicator " << format_bytes(memory.communicator());
  }
  out << ", input " << input_text(memory);
  for (std::size_t tower = 0; tower < memory.towers(); ++tower) {
    const MemoryNeed need = memory.of_tower(tower);
    out << "; tower " << tower << ": host " << format_bytes(need.host);
    if (memory.on_device) {
      out << ", device " << format_bytes(need.device);
    }
  }
  return out;
}

MemoryNeed MemoryLimits::need_of(const PlannedMemory& memory) const {
  if (!device) {
    return {.host = memory.total() + memory.check.host};
  }
  const std::size_t computing = memory.share_device
                                    ? memory.towers() * memory.executor.total() + memory.optimizer()
                                    : memory.computing(memory.largest_tower());
  return {.host = memory.input() + memory.communicator() + memory.check.host,
          .device = computing + memory.check.device};
}

bool MemoryLimits::fit(const MemoryNeed& need) const {
  return fits(need.host, host) && (!device || fits(need.device, *device));
}

MemoryLimits limits_of_run(const Execution& execution, Captured<MemoryLimit> host,
                           std::span<const Device> devices) {
  std::optional<std::size_t> least;
  for (const Device& device : devices) {
    if (const auto free = device.backend->memory_traits().free_bytes) {
      least = std::min(least.value_or(*free), *free);
    }
  }
  const bool described = execution.gpu.plan_for.has_value();
  MemoryLimits limits{.host = std::move(host)};
  if (described) {
    limits.host = Unknown{"the card's host is not known"};
  }
  if (least) {
    const double fraction = execution.gpu.memory_fraction;
    limits.device = {.bytes = static_cast<std::int64_t>(static_cast<double>(*least) * fraction) /
                              execution.gpu.processes,
                     .set_by = described ? "all memory of the card" : "free on the device"};
    if (fraction < 1) {
      limits.device->set_by += fmt::format(", times --gpu_memory_frac_for_testing={:g}", fraction);
    }
    if (execution.gpu.processes > 1) {
      limits.device->set_by += fmt::format(", shared by {} processes", execution.gpu.processes);
    }
  }
  return limits;
}

PlannedMemory plan_run_memory(const RunSettings& settings, Backend& backend, std::int64_t batch) {
  const Graph graph = build_run_graph(settings, backend, micro_batch_for(settings, backend, batch));
  // Pinned choices are valid for one batch only.
  LoweringOptions options = settings.execution.lowering();
  if (batch != settings.workload.batch) {
    options.pinned = nullptr;
  }
  return run_memory(settings, backend, tower_plan(Plan(graph, backend, options)), batch);
}

TowerPlan tower_plan(const Plan& plan) {
  return {.memory = plan.memory.report, .segments = optimizer_segments(plan)};
}

PlannedMemory run_memory(const RunSettings& settings, Backend& backend, const TowerPlan& tower,
                         std::int64_t batch) {
  const Workload& workload = settings.workload;
  const auto towers = static_cast<std::size_t>(workload.towers);
  PlannedMemory memory{.executor = tower.memory,
                       .updates = std::vector<StrategyMemory>(towers),
                       .on_device = !backend.shares_host_memory(),
                       .share_device = settings.execution.gpu.virtual_towers,
                       .check = fingerprint_need(settings, backend, batch)};
  if (workload.training()) {
    memory.updates =
        workload.strategy->memory(tower.segments, workload.towers, strategy_settings(settings));
    for (StrategyMemory& each : memory.updates) {
      each.communicator = (memory.on_device ? each.communicator : 0) + each.exchange;
    }
    // The check keeps every tower's gradients.
    if (!memory.on_device) {
      memory.check.host += towers * tower.memory.gradients;
    } else {
      memory.check.device += (memory.share_device ? towers : 1) * tower.memory.gradients;
    }
  }
  if (settings.outputs.checkpoints.folder) {
    const std::size_t copies = workload.strategy->reduction ? 1 : towers;
    memory.check.host =
        std::max(memory.check.host, copies * tower.memory.variables + memory.optimizer());
  }
  if (settings.evaluation.during_training() && workload.training()) {
    const RunSettings evaluation = evaluation_settings(with_batch(settings, batch));
    const MemoryLimits places{
        .host = Unknown{"not needed here"},
        .device = memory.on_device ? std::optional(MemoryLimit()) : std::nullopt};
    const MemoryNeed need =
        places.need_of(plan_run_memory(evaluation, backend, evaluation.workload.batch));
    memory.check = {.host = std::max(memory.check.host, need.host),
                    .device = std::max(memory.check.device, need.device)};
  }
  const std::size_t images = image_bytes(workload, batch) * towers;
  if (!workload.input.dataset) {
    memory.input_slots = images;
    return memory;
  }
  memory.records = workload.input.record_bytes;
  const bool pixels = settings.execution.slots == SlotType::u8;
  const std::size_t slot =
      pixels ? slot_image_bytes(settings) * static_cast<std::size_t>(batch) * towers : images;
  memory.input_slots = slot * static_cast<std::size_t>(workload.input.dataset->prefetch_batches);
  if (settings.outputs.diagnose_input) {
    // The diagnosis copies all slots.
    memory.check.host = std::max(memory.check.host, memory.input_slots);
  }
  if (pixels && backend.shares_host_memory()) {
    memory.input_slots += images;  // The buffer for normalized images.
  }
  return memory;
}

namespace {

bool reads_images(const Workload& workload) {
  return workload.model == nullptr || workload.model->reads_images();
}

/// The numbers that a NumberModel reads besides images.
std::size_t number_elements(const Workload& workload) {
  std::int64_t elements = 0;
  if (workload.model != nullptr) {
    for (const ExampleInput& input : number_inputs(workload)) {
      elements += input.shape.elements();
    }
  }
  return static_cast<std::size_t>(elements);
}

}  // namespace

std::size_t image_elements(const Workload& workload) {
  if (!reads_images(workload)) {
    return number_elements(workload);
  }
  const std::int64_t size = workload.image_size;
  return static_cast<std::size_t>(workload.dataset->channels * size * size);
}

std::size_t slot_image_bytes(const RunSettings& settings) {
  return image_elements(settings.workload) *
         (settings.execution.slots == SlotType::u8 ? sizeof(std::uint8_t) : sizeof(float));
}

std::size_t image_bytes(const Workload& workload, std::int64_t batch) {
  const std::size_t numbers = reads_images(workload) ? number_elements(workload) : 0;
  return static_cast<std::size_t>(batch) * (image_elements(workload) + numbers) *
         size_of(accumulation_type(workload.dtype));
}

MemoryNeed fingerprint_need(const RunSettings& settings, Backend& backend, std::int64_t batch) {
  const Graph graph =
      build_run_graph(settings, backend, checked_examples(*settings.workload.model, batch));
  const std::size_t kernels =
      settings.workload.int8 ? 0 : plan_check_memory(graph, backend.host_threads().count).total();
  // Values written to variables are f32, whatever the type of the variables.
  const auto values = static_cast<std::size_t>(count_variables(graph).all.scalars) * sizeof(float);
  std::int64_t largest = 0;
  const Graph whole = build_run_graph(settings, backend, batch);
  for (const Value& value : whole.values()) {
    largest = std::max(largest, value.type.opaque ? 0 : value.type.shape.elements());
  }
  // Two copies of the batch: in canonical order, and as the executor reads it.
  return {.host = 2 * image_bytes(settings.workload, batch) + values + kernels,
          .device = static_cast<std::size_t>(largest) * sizeof(float)};
}

LargestBatch largest_batch(const Workload& workload, const MemoryLimits& limits,
                           const NeedForBatch& need_for, std::int64_t below) {
  std::int64_t fails = below;
  LargestBatch fits;
  while (fails - fits.batch > 1) {
    const std::int64_t middle = fits.batch + (fails - fits.batch) / 2;
    const bool images_fit = limits.fit(images_need(workload, middle));
    const MemoryNeed need = images_fit ? need_for(middle) : MemoryNeed{};
    if (images_fit && limits.fit(need)) {
      fits.batch = middle;
      fits.need = need;
    } else {
      fails = middle;
      fits.next = need;
    }
  }
  return fits;
}

void check_variables_memory(const RunSettings& settings, const Captured<MemoryLimit>& limit) {
  const Workload& workload = settings.workload;
  if (settings.execution.gpu.plan_for) {
    return;
  }
  const VariableCounts counts = count_variables(build_run_network(workload, 1));
  const std::size_t bytes =
      static_cast<std::size_t>(counts.all.scalars) * size_of(accumulation_type(workload.dtype));
  if (fits(bytes, limit)) {
    return;
  }
  const std::string images =
      workload.model->reads_images()
          ? fmt::format("images of {0} x {0} pixels and ", workload.image_size)
          : "";
  throw UsageError(fmt::format(
      "--model={} with {}{} classes needs {} for its variables alone, but only {} is available "
      "({})",
      workload.model->name, images, workload.num_classes, format_bytes(bytes),
      format_bytes(static_cast<std::size_t>(limit.value().bytes)), limit.value().set_by));
}

void check_images_memory(const Workload& workload, const MemoryLimits& limits,
                         const NeedForBatch& need_for) {
  check_need(workload, limits, need_for,
             shortage(workload, images_need(workload, workload.batch), limits,
                      {.host = "for its input alone", .device = "for its input alone"}));
}

std::optional<std::string> memory_shortage(const Workload& workload, const PlannedMemory& memory,
                                           const MemoryLimits& limits) {
  const auto with_check = [](const std::string& text, std::size_t bytes) {
    return bytes == 0 ? text
                      : fmt::format("{}, check after the steps {}", text, format_bytes(bytes));
  };
  std::ostringstream executor;
  executor << memory.executor;
  const auto rest = [&](std::size_t optimizer) {
    return fmt::format("{}, optimizer {}", executor.str(), format_bytes(optimizer));
  };
  std::string host = fmt::format("input {}", input_text(memory));
  if (memory.communicator() > 0) {
    host = fmt::format("gradient exchange {}, {}", format_bytes(memory.communicator()), host);
  }
  if (!limits.device) {
    host = fmt::format("{}, {}", rest(memory.optimizer()), host);
  }
  const std::size_t largest = memory.largest_tower();
  const std::string on_device =
      rest(memory.share_device ? memory.optimizer() : memory.updates[largest].computing);
  const std::string which = memory.towers() == 1 || memory.share_device
                                ? "the device's memory"
                                : fmt::format("the memory of tower {}'s device", largest);
  return shortage(
      workload, limits.need_of(memory), limits,
      {.host = fmt::format("({})", with_check(host, memory.check.host)),
       .device = fmt::format("of {} ({})", which, with_check(on_device, memory.check.device))});
}

void check_memory(const Workload& workload, const PlannedMemory& memory, const MemoryLimits& limits,
                  const NeedForBatch& need_for) {
  check_need(workload, limits, need_for, memory_shortage(workload, memory, limits));
}

}  // namespace bench

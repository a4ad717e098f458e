#include "bench/memory_check.h"

#include <algorithm>
#include <ostream>

#include "bench/graph_counts.h"
#include "models/base/errors.h"
#include "variable_mgmt/strategy.h"

namespace bench {
namespace {

/// The largest batch below `fails`, which does not fit, whose memory fits; 0 when none does.
std::int64_t largest_fitting(std::int64_t fails, std::size_t limit,
                             const std::function<std::size_t(std::int64_t)>& bytes_for_batch) {
  std::int64_t fits = 0;
  while (fails - fits > 1) {
    const std::int64_t middle = fits + (fails - fits) / 2;
    (bytes_for_batch(middle) <= limit ? fits : fails) = middle;
  }
  return fits;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const PlannedMemory& memory) {
  return out << memory.executor << ", optimizer " << format_bytes(memory.optimizer_slots)
             << ", input " << format_bytes(memory.input_slots);
}

PlannedMemory plan_run_memory(const RunSettings& settings, Backend& backend, std::int64_t batch) {
  const Graph graph = build_run_graph(settings, backend, batch);
  return run_memory(settings, Executor::predict(graph, backend, settings.format), batch);
}

PlannedMemory run_memory(const RunSettings& settings, const MemoryReport& executor,
                         std::int64_t batch) {
  PlannedMemory memory{.executor = executor};
  if (settings.training()) {
    const StrategyRow& strategy = find_strategy(settings.flags.variable_update);
    memory.optimizer_slots =
        strategy.bytes(memory.executor.variables / size_of(settings.dtype), settings.optimizer);
  }
  const std::size_t slot = image_bytes(settings, batch);
  memory.input_slots = settings.flags.data_dir
                           ? slot * static_cast<std::size_t>(DatasetOptions{}.prefetch_batches)
                           : slot;
  return memory;
}

std::size_t image_elements(const RunSettings& settings) {
  const std::int64_t size = settings.image_size;
  return static_cast<std::size_t>(settings.dataset->channels * size * size);
}

std::size_t image_bytes(const RunSettings& settings, std::int64_t batch) {
  return static_cast<std::size_t>(batch) * image_elements(settings) * size_of(settings.dtype);
}

void check_variables_memory(const RunSettings& settings, const Captured<MemoryLimit>& limit) {
  const VariableCounts counts = count_variables(build_run_network(settings, 1));
  const std::size_t bytes = static_cast<std::size_t>(counts.all.scalars) * size_of(settings.dtype);
  if (!limit.known() || bytes <= static_cast<std::size_t>(limit.value().bytes)) {
    return;
  }
  throw UsageError(cat("--model=", settings.model->name, " with images of ", settings.image_size,
                       " pixels and ", settings.num_classes, " classes needs ", format_bytes(bytes),
                       " for its variables alone, ",
                       format_bytes(static_cast<std::size_t>(limit.value().bytes)),
                       " may be used (", limit.value().set_by, ")"));
}

void check_memory(const RunSettings& settings, const PlannedMemory& memory,
                  const Captured<MemoryLimit>& limit,
                  const std::function<std::size_t(std::int64_t batch)>& bytes_for_batch) {
  if (!limit.known() || memory.total() <= static_cast<std::size_t>(limit.value().bytes)) {
    return;
  }
  const auto allowed = static_cast<std::size_t>(limit.value().bytes);
  // A batch whose images alone fill the memory is too large to be planned at all.
  const auto images_fit = static_cast<std::int64_t>(allowed / image_bytes(settings, 1)) + 1;
  const std::int64_t fits =
      largest_fitting(std::min(settings.batch, images_fit), allowed, bytes_for_batch);
  throw UsageError(cat("--batch_size=", settings.batch, " needs ", format_bytes(memory.total()),
                       " (", memory, "), ", format_bytes(allowed), " may be used (",
                       limit.value().set_by, "); ",
                       fits == 0 ? "no batch fits" : cat("the largest batch that fits is ", fits)));
}

}  // namespace bench

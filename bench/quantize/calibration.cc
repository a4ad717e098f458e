#include "bench/quantize/calibration.h"

#include <algorithm>

#include "models/ops/quantized.h"
#include "models/passes/quantize_plan.h"

namespace bench {
namespace {

constexpr const char* kImagesName = "images";
constexpr const char* kPrefix = "watched/";
/// Dropout and drop-path are off.
constexpr std::int32_t kNoStep = -1;

/// Adds the watched values to the graph's outputs.
Graph with_watched(Graph graph) {
  for (const ValueId id : values_with_range(graph)) {
    const Value& value = graph.value(id);
    if (value.origin == Value::Origin::node) {
      graph.set_output(kPrefix + value.name, id);
    }
  }
  return graph;
}

/// The watched values, each with its number of quanta between 0 and its largest magnitude.
std::map<std::string, double> watched_values(const Graph& graph) {
  const QuantizePlan plan(graph, unknown_ranges(graph), {});
  std::map<std::string, double> levels;
  for (const ValueId id : values_with_range(graph)) {
    if (graph.value(id).origin == Value::Origin::node) {
      levels[graph.value(id).name] = highest_of(plan.dtype(id));
    }
  }
  return levels;
}

Range range_of(const Magnitudes& seen) {
  return {.low = static_cast<double>(seen.low()), .high = static_cast<double>(seen.high())};
}

}  // namespace

Calibration::Calibration(const Graph& graph, Backend& backend, DataFormat format,
                         const InitialValues& values)
    : watched_(watched_values(graph)),
      tower_(with_watched(graph), backend, {.format = format}, values),
      threads_(backend.host_threads()) {}

void Calibration::observe(std::span<const float> images, std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  images_.add(images);
  const auto threads = static_cast<std::size_t>(threads_.count);
  for (const auto& [value, levels] : watched_) {
    const auto numbers = tower_.executor().read_output_as_floats(kPrefix + value);
    std::vector<Magnitudes>& seen = seen_[value];
    seen.resize(threads);
    threads_.run([&](int number) {
      const auto thread = static_cast<std::size_t>(number);
      const std::size_t begin = numbers.size() * thread / threads;
      const std::size_t end = numbers.size() * (thread + 1) / threads;
      seen[thread].add(std::span(numbers).subspan(begin, end - begin));
    });
  }
}

std::vector<float> Calibration::logits(std::span<const float> images,
                                       std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  return tower_.executor().read_output_as_floats("logits");
}

Ranges Calibration::ranges() const {
  Ranges ranges{{kImagesName, range_of(images_)}};
  for (const auto& [value, parts] : seen_) {
    Magnitudes all;
    for (const Magnitudes& part : parts) {
      all.merge(part);
    }
    const double cut = all.best_cut(watched_.at(value));
    const Range range = range_of(all);
    ranges[value] = {.low = std::max(range.low, -cut), .high = std::min(range.high, cut)};
  }
  return ranges;
}

}  // namespace bench

#include "bench/quantize/calibration.h"

#include <algorithm>

#include "models/base/errors.h"
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

/// Widens a value's range by the numbers; creates it if it does not exist.
void widen(Ranges& ranges, const std::string& value, std::span<const float> numbers) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  check(low != numbers.end(), fmt::format("calibration: {} is empty", value));
  const Range seen{.low = static_cast<double>(*low), .high = static_cast<double>(*high)};
  const auto [entry, fresh] = ranges.try_emplace(value, seen);
  entry->second.low = std::min(entry->second.low, seen.low);
  entry->second.high = std::max(entry->second.high, seen.high);
}

}  // namespace

Calibration::Calibration(const Graph& graph, Backend& backend, DataFormat format,
                         const InitialValues& values)
    : watched_(watched_values(graph)),
      tower_(with_watched(graph), backend, {.format = format}, values) {}

void Calibration::observe(std::span<const float> images, std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  widen(seen_, kImagesName, images);
  for (const auto& [value, levels] : watched_) {
    const auto numbers = tower_.executor().read_output_as_floats(kPrefix + value);
    widen(seen_, value, numbers);
    magnitudes_[value].add(numbers);
  }
}

std::vector<float> Calibration::logits(std::span<const float> images,
                                       std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  return tower_.executor().read_output_as_floats("logits");
}

Ranges Calibration::ranges() const {
  Ranges ranges = seen_;
  for (const auto& [value, magnitudes] : magnitudes_) {
    const double cut = magnitudes.best_cut(watched_.at(value));
    Range& range = ranges.at(value);
    range = {.low = std::max(range.low, -cut), .high = std::min(range.high, cut)};
  }
  return ranges;
}

}  // namespace bench

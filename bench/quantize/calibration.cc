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

/// More threads would spend their time on adding up what they have seen.
constexpr int kMostParts = 16;

}  // namespace

Calibration::Calibration(const Graph& graph, Backend& backend, DataFormat format,
                         const InitialValues& values)
    : watched_(watched_values(graph)),
      tower_(with_watched(graph), backend, {.format = format}, values),
      threads_(backend.host_threads()),
      parts_(static_cast<std::size_t>(std::min(threads_.count, kMostParts))) {}

void Calibration::observe(std::span<const float> images, std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  for (const float number : images) {
    images_.low = std::min(images_.low, static_cast<double>(number));
    images_.high = std::max(images_.high, static_cast<double>(number));
  }
  for (const auto& [value, levels] : watched_) {
    const auto numbers = tower_.executor().read_output_as_floats(kPrefix + value);
    threads_.run([&](int number) {
      const auto part = static_cast<std::size_t>(number);
      if (part < parts_.size()) {
        const std::size_t begin = numbers.size() * part / parts_.size();
        const std::size_t end = numbers.size() * (part + 1) / parts_.size();
        parts_[part].clear();
        parts_[part].add(std::span(numbers).subspan(begin, end - begin));
      }
    });
    Magnitudes& seen = seen_[value];
    for (const Magnitudes& part : parts_) {
      seen.merge(part);
    }
  }
}

std::vector<float> Calibration::logits(std::span<const float> images,
                                       std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  return tower_.executor().read_output_as_floats("logits");
}

Ranges Calibration::ranges() const {
  Ranges ranges{{kImagesName, images_}};
  for (const auto& [value, seen] : seen_) {
    check(seen.low() <= seen.high(), fmt::format("calibration: {} has no numbers", value));
    const double cut = seen.best_cut(watched_.at(value));
    ranges[value] = {.low = std::max(static_cast<double>(seen.low()), -cut),
                     .high = std::min(static_cast<double>(seen.high()), cut)};
  }
  return ranges;
}

}  // namespace bench

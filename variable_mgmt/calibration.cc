#include "variable_mgmt/calibration.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr const char* kImages = "images";
constexpr const char* kPrefix = "watched/";
/// Dropout and drop-path are off.
constexpr std::int32_t kNoStep = -1;

/// The graph with the watched values among its outputs.
Graph with_watched(Graph graph) {
  for (const ValueId id : values_with_range(graph)) {
    const Value& value = graph.value(id);
    if (value.origin == Value::Origin::node) {
      graph.set_output(kPrefix + value.name, id);
    }
  }
  return graph;
}

std::vector<std::string> watched_values(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : values_with_range(graph)) {
    if (graph.value(id).origin == Value::Origin::node) {
      names.push_back(graph.value(id).name);
    }
  }
  return names;
}

}  // namespace

Calibration::Calibration(const Graph& graph, Backend& backend, DataFormat format,
                         const InitialValues& values)
    : watched_(watched_values(graph)),
      tower_(with_watched(graph), backend, {.format = format}, values) {}

void Calibration::observe(std::span<const float> images, std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  widen(kImages, images);
  for (const std::string& value : watched_) {
    widen(value, tower_.executor().read_output_as_floats(kPrefix + value));
  }
}

std::vector<float> Calibration::logits(std::span<const float> images,
                                       std::span<const std::int32_t> labels) {
  tower_.run_canonical(images, labels, kNoStep);
  return tower_.executor().read_output_as_floats("logits");
}

void Calibration::widen(const std::string& value, std::span<const float> numbers) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  check(low != numbers.end(), cat("calibration: ", value, " is empty"));
  const Range seen{.low = static_cast<double>(*low), .high = static_cast<double>(*high)};
  const auto [entry, fresh] = ranges_.try_emplace(value, seen);
  entry->second.low = std::min(entry->second.low, seen.low);
  entry->second.high = std::max(entry->second.high, seen.high);
}

}  // namespace bench

#include "bench/after/scaling.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench {
namespace {

using Parts = ScalingReference::Parts;

double images_per_second(const results::Record& record) {
  const auto speed = std::find_if(record.metrics.begin(), record.metrics.end(),
                                  [](const auto& each) { return each.name == "images_per_sec"; });
  check(speed != record.metrics.end() && speed->value.known(), "a run without images_per_sec");
  return std::get<double>(speed->value.value());
}

/// Means over the towers; none where they are not known.
std::optional<Parts> mean_parts(const std::vector<results::TowerTimes>& towers) {
  Parts sum;
  for (const results::TowerTimes& tower : towers) {
    if (!tower.computing.known()) return std::nullopt;
    sum.computing += tower.computing.value();
    sum.exchanging += tower.exchanging.value();
    sum.updating += tower.updating.value();
    sum.waiting += tower.waiting.value();
  }
  const auto count = static_cast<double>(towers.size());
  return towers.empty() ? std::nullopt
                        : std::optional(Parts{.computing = sum.computing / count,
                                              .exchanging = sum.exchanging / count,
                                              .updating = sum.updating / count,
                                              .waiting = sum.waiting / count});
}

ScalingReference reference_of(const results::Record& record) {
  return {.devices = record.workload.devices,
          .images_per_second = images_per_second(record),
          .parts = mean_parts(record.towers)};
}

}  // namespace

ScalingReference reference_of(const results::StoredRun& run) {
  std::vector<results::TowerTimes> towers;
  const auto seconds = [](const nlohmann::json& time) {
    return time.is_null() ? Captured<double>() : Captured<double>(time.get<double>());
  };
  for (const nlohmann::json& tower : run.record.at("towers")) {
    towers.push_back({.processors = {},
                      .computing = seconds(tower.at("computing")),
                      .exchanging = seconds(tower.at("exchanging")),
                      .updating = seconds(tower.at("updating")),
                      .waiting = seconds(tower.at("waiting")),
                      .rest = {}});
  }
  return {.devices = run.record.at("workload").at("devices").get<int>(),
          .images_per_second = run.metrics.at("images_per_sec").value,
          .parts = mean_parts(towers)};
}

results::Scaling scaling_of(const ScalingPlace& place, const results::Record& record) {
  const ScalingReference own = reference_of(record);
  const ScalingReference& reference = place.reference ? *place.reference : own;
  results::Scaling scaling{.reference_devices = reference.devices,
                           .reference_images_per_sec = reference.images_per_second,
                           .efficiency = (own.images_per_second / own.devices) /
                                         (reference.images_per_second / reference.devices)};
  if (!own.parts || !reference.parts) {
    scaling.computing = scaling.exchanging = scaling.updating = scaling.waiting = scaling.rest =
        Unknown{"a device's work is not timed part by part"};
    return scaling;
  }
  const double step = static_cast<double>(record.workload.global_batch) / own.images_per_second;
  const auto lost = [&](double Parts::*part) {
    return ((*own.parts).*part - (*reference.parts).*part) / step;
  };
  scaling.computing = lost(&Parts::computing);
  scaling.exchanging = lost(&Parts::exchanging);
  scaling.updating = lost(&Parts::updating);
  scaling.waiting = lost(&Parts::waiting);
  scaling.rest = 1 - scaling.efficiency - scaling.computing.value() - scaling.exchanging.value() -
                 scaling.updating.value() - scaling.waiting.value();
  return scaling;
}

}  // namespace bench

#include "bench/report/scaling.h"

#include <algorithm>

#include "bench/loop/step_times.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using Parts = ScalingReference::Parts;

double units_per_second(const results::Record& record) {
  const auto speed =
      std::find_if(record.metrics.begin(), record.metrics.end(), [](const auto& each) {
        return std::ranges::find(results::kSpeedMetrics, each.name) != results::kSpeedMetrics.end();
      });
  check(speed != record.metrics.end() && speed->value.known(), "the run has no speed");
  return std::get<double>(speed->value.value());
}

/// The means over the towers; nullopt if they are unknown.
std::optional<Parts> mean_parts(const std::vector<results::TowerTimes>& towers) {
  Parts sum;
  for (const results::TowerTimes& tower : towers) {
    if (!tower.mean.computing.known()) return std::nullopt;
    sum.input += tower.mean.input.value();
    sum.computing += tower.mean.computing.value();
    sum.exposed_communication += tower.mean.exposed_communication.value();
    sum.updating += tower.mean.updating.value();
    sum.waiting += tower.mean.waiting.value();
  }
  const auto count = static_cast<double>(towers.size());
  return towers.empty()
             ? std::nullopt
             : std::optional(Parts{.input = sum.input / count,
                                   .computing = sum.computing / count,
                                   .exposed_communication = sum.exposed_communication / count,
                                   .updating = sum.updating / count,
                                   .waiting = sum.waiting / count});
}

ScalingReference reference_of(const results::Record& record) {
  return {.devices = record.workload.devices,
          .units_per_second = units_per_second(record),
          .parts = mean_parts(record.towers)};
}

}  // namespace

ScalingReference reference_of(const results::StoredRun& run) {
  std::vector<results::TowerTimes> towers;
  const auto seconds = [](const nlohmann::json& time) {
    return time.is_null() ? Captured<double>() : Captured<double>(time.get<double>());
  };
  for (const nlohmann::json& tower : run.record.at("towers")) {
    towers.push_back({.mean = {.input = seconds(tower.at("input")),
                               .computing = seconds(tower.at("computing")),
                               .exposed_communication = seconds(tower.at("exposed_communication")),
                               .updating = seconds(tower.at("updating")),
                               .host = seconds(tower.at("host")),
                               .waiting = seconds(tower.at("waiting"))}});
  }
  return {.devices = run.record.at("workload").at("devices").get<int>(),
          .units_per_second = run.metrics.at(results::speed_metric(run)).value,
          .parts = mean_parts(towers)};
}

results::Scaling scaling_of(const ScalingPlace& place, const results::Record& record,
                            std::int64_t units_per_step) {
  const ScalingReference own = reference_of(record);
  const ScalingReference& reference = place.reference ? *place.reference : own;
  results::Scaling scaling{.reference_devices = reference.devices,
                           .reference_images_per_sec = reference.units_per_second,
                           .efficiency = (own.units_per_second / own.devices) /
                                         (reference.units_per_second / reference.devices)};
  if (!own.parts || !reference.parts) {
    scaling.lost.set_unknown(Unknown{std::string(kNotTimedByPart)});
    return scaling;
  }
  const double step = static_cast<double>(units_per_step) / own.units_per_second;
  const auto lost = [&](double Parts::*part) {
    return ((*own.parts).*part - (*reference.parts).*part) / step;
  };
  results::StepParts& parts = scaling.lost;
  parts.input = lost(&Parts::input);
  parts.computing = lost(&Parts::computing);
  parts.exposed_communication = lost(&Parts::exposed_communication);
  parts.updating = lost(&Parts::updating);
  parts.waiting = lost(&Parts::waiting);
  parts.host = 1 - scaling.efficiency - parts.input.value() - parts.computing.value() -
               parts.exposed_communication.value() - parts.updating.value();
  return scaling;
}

}  // namespace bench

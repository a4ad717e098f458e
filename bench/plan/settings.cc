#include "bench/plan/settings.h"

#include "models/base/errors.h"

namespace bench {

std::string_view name_of(RunDevice device) {
  switch (device) {
    case RunDevice::cpu:
      return "cpu";
    case RunDevice::gpu:
      return "gpu";
    case RunDevice::reference:
      return "reference";
  }
  throw InternalError("a device without a name");
}

RunDevice device_named(std::string_view name) {
  for (const RunDevice device : {RunDevice::cpu, RunDevice::gpu, RunDevice::reference}) {
    if (name == name_of(device)) {
      return device;
    }
  }
  throw InternalError(fmt::format("unknown device {}", name));
}

std::string_view name_of(Autotune autotune) {
  switch (autotune) {
    case Autotune::off:
      return "off";
    case Autotune::quick:
      return "quick";
    case Autotune::full:
      return "full";
  }
  throw InternalError("a value of --autotune without a name");
}

std::string_view name_of(ChosenBy chosen_by) {
  switch (chosen_by) {
    case ChosenBy::estimates:
      return "estimates";
    case ChosenBy::file:
      return "file";
    case ChosenBy::timed:
      return "timed";
    case ChosenBy::kept:
      return "kept";
    case ChosenBy::checkpoint:
      return "checkpoint";
  }
  throw InternalError("a source of choices without a name");
}

RunSettings with_batch(RunSettings settings, std::int64_t batch) {
  settings.workload.batch = batch;
  settings.execution.step_request.examples_per_step = settings.workload.global_batch();
  settings.execution.steps = plan_steps(settings.execution.step_request);
  settings.workload.learning_rate.examples_per_step = settings.workload.global_batch();
  settings.workload.learning_rate.examples_per_update =
      settings.workload.batch * settings.workload.towers_of_update();
  return settings;
}

std::int64_t images_at_once(const RunSettings& settings) {
  return settings.execution.micro_batch.value_or(settings.workload.batch);
}

std::int64_t runs_per_step(const RunSettings& settings) {
  return settings.workload.batch / images_at_once(settings);
}

std::int64_t own_classes(const Model& model, const Dataset& dataset) {
  return model.num_classes > 0 ? model.num_classes : std::int64_t{dataset.num_classes};
}

std::int32_t layer_step(const Workload& workload, std::int64_t global_step) {
  return workload.deterministic_layers ? -1 : static_cast<std::int32_t>(global_step);
}

LossScaleRule loss_scale_rule(const Workload& workload) {
  if (!is_half(workload.dtype)) {
    return {};
  }
  constexpr double kModelsScale = 128;
  const LossScaleSettings& asked = workload.loss_scale;
  return {.initial = asked.initial.value_or(workload.dtype == DType::f16 ? kModelsScale : 1),
          .automatic = asked.automatic,
          .increase_every = asked.increase_every};
}

bool all_reduces(const Workload& workload) {
  const std::string_view name = workload.strategy->name;
  return workload.training() && name != "parameter_server" && name != "distributed_replicated" &&
         name != "independent";
}

RunSettings of_tower(RunSettings settings, int tower) {
  settings.workload.tower = tower;
  return settings;
}

StrategySettings strategy_settings(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  StrategySettings result{.optimizer = workload.optimizer,
                          .one_holder = settings.execution.sharing.one_holder,
                          .served = workload.servers > 0,
                          .remote = workload.processes > 1 && workload.servers == 0,
                          .relaxed = workload.relaxed,
                          .staged = workload.staged,
                          .sums = settings.execution.sharing.sums};
  result.optimizer.loss_scale = loss_scale_rule(workload);
  if (workload.compact) {
    result.sums.narrow = workload.dtype;
  }
  if (workload.reduction == GradientReduction::sum) {
    result.optimizer.weight_decay *= workload.towers_of_update();
  }
  return result;
}

double gradient_scale(const Workload& workload) {
  return workload.reduction == GradientReduction::mean ? 1.0 / workload.towers_of_update() : 1.0;
}

}  // namespace bench

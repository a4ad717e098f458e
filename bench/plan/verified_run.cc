#include "bench/plan/verified_run.h"

#include <utility>

#include "bench/plan/network.h"
#include "models/base/errors.h"
#include "models/zoo/fingerprint.h"
#include "variable_mgmt/fold_values.h"

namespace bench {

std::string difference_to_stored(const Workload& workload) {
  const Model& model = *workload.model;
  const std::int64_t classes = own_classes(model, *workload.dataset);
  if (workload.image_size != model.image_size) {
    return fmt::format("the image size is {}, not the model's default of {}", workload.image_size,
                       model.image_size);
  }
  if (workload.num_classes != classes) {
    return fmt::format("the network has {} classes, not the default of {}", workload.num_classes,
                       classes);
  }
  if (!workload.training()) {
    return "";
  }
  if (workload.aux_head) {
    return "the network has an auxiliary head";
  }
  if (workload.label_smoothing > 0) {
    return "the labels are smoothed";
  }
  return fingerprint_refusal(workload.batch);
}

FingerprintStimulus fingerprint_stimulus(const Workload& workload) {
  const Graph network = build_run_network(workload, 1);
  FingerprintStimulus stimulus{.values = fingerprint_values(network),
                               .probes = fingerprint_probes(network)};
  fold_values(run_folds(workload), stimulus.values);
  if (workload.dtype == DType::f16) {
    // Scale the loss as in a run, because most gradients would be too small for f16.
    constexpr double kLossScale = 1024;
    stimulus.loss_scale = kLossScale;
  }
  return stimulus;
}

VerifiedRun verified_run(const RunSettings& settings, Towers& towers,
                         std::function<Graph(std::int64_t images)> graph, Watch watch) {
  const Workload& workload = settings.workload;
  return {.towers = towers,
          .model = *workload.model,
          .dtype = workload.dtype,
          .training = workload.training(),
          .batch = images_at_once(settings),
          .weight_decay = workload.optimizer.weight_decay,
          .strategy = strategy_settings(settings),
          .reduced = workload.reduction.has_value(),
          .repeatable = !workload.asynchronous,
          .reads_pixels = settings.execution.slots == SlotType::u8,
          .stimulus = fingerprint_stimulus(workload),
          .skipped = difference_to_stored(workload),
          .graph = std::move(graph),
          .watch = std::move(watch)};
}

}  // namespace bench

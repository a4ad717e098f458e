#include "bench/plan/verified_run.h"

#include <utility>

#include "bench/plan/network.h"
#include "models/base/errors.h"
#include "models/zoo/fingerprint.h"
#include "variable_mgmt/fold_values.h"

namespace bench {

std::string difference_to_stored(const RunSettings& settings) {
  const Model& model = *settings.model;
  const std::int64_t classes = own_classes(model, *settings.dataset);
  if (settings.image_size != model.image_size) {
    return fmt::format("the images are {} wide, the model's own {}", settings.image_size,
                       model.image_size);
  }
  if (settings.num_classes != classes) {
    return fmt::format("the network has {} classes, the model's own {}", settings.num_classes,
                       classes);
  }
  if (!settings.training()) {
    return "";
  }
  if (settings.aux_head) {
    return "the network has an auxiliary head";
  }
  if (settings.label_smoothing > 0) {
    return "the labels are smoothed";
  }
  return fingerprint_refusal(settings.batch);
}

FingerprintStimulus fingerprint_stimulus(const RunSettings& settings) {
  const Graph network = build_run_network(settings, 1);
  FingerprintStimulus stimulus{.values = fingerprint_values(network),
                               .probes = fingerprint_probes(network)};
  fold_values(run_folds(settings), stimulus.values);
  if (settings.dtype == DType::f16) {
    // Scale the loss as in a run, because most gradients would be too small for f16.
    constexpr double kLossScale = 1024;
    stimulus.loss_scale = kLossScale;
  }
  return stimulus;
}

VerifiedRun verified_run(const RunSettings& settings, Towers& towers,
                         std::function<Graph(std::int64_t images)> graph, Watch watch) {
  return {.towers = towers,
          .model = *settings.model,
          .dtype = settings.dtype,
          .training = settings.training(),
          .batch = settings.batch,
          .weight_decay = settings.optimizer.weight_decay,
          .strategy = strategy_settings(settings),
          .reduced = settings.reduction.has_value(),
          .reads_pixels = settings.input.type == SlotType::u8,
          .stimulus = fingerprint_stimulus(settings),
          .skipped = difference_to_stored(settings),
          .graph = std::move(graph),
          .watch = std::move(watch)};
}

}  // namespace bench

#include "bench/plan/training_settings.h"

#include <algorithm>

#include "bench/flags/combinations.h"
#include "bench/plan/network.h"
#include "models/base/errors.h"
#include "models/ops/batch_norm.h"

namespace bench {
namespace {

// The models' learning rates assume images from -1 to 1; synthetic images range from 0 to 255, as
// in tf_cnn_benchmarks. Batch norm removes the factor of 127.5 again. Without batch norm, every
// layer's output is larger by this factor. For a given gradient of the logits, so is the gradient
// of each weight. The curvature of the loss then grows by 127.5^2, so the step along the gradient
// must shrink by as much.
constexpr double kSyntheticDivisor = 127.5 * 127.5;

bool has_batch_norm(const Graph& graph) {
  const auto nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return node.op == &kBatchNorm; });
}

/// True for LARS, whose updates do not grow with the gradients.
bool scales_layers(const OptimizerSettings& optimizer) {
  return std::holds_alternative<LarsRule>(optimizer.rule);
}

/// Adds a notice if LARS uses a model's rate, which is made for other optimizers.
void note_the_rate_of_lars(RunSettings& settings) {
  const LearningRateRequest& request = settings.workload.learning_rate.request;
  if (settings.workload.training() && scales_layers(settings.workload.optimizer) &&
      !request.init_learning_rate && !request.piecewise_schedule) {
    settings.notices.emplace_back(
        "--optimizer=lars needs larger learning rates than the model's: give --init_learning_rate");
  }
}

/// Keeps the loss of synthetic images finite, whatever the network.
void suit_synthetic_images(RunSettings& settings) {
  const LearningRateRequest& request = settings.workload.learning_rate.request;
  if (!settings.workload.training() || !settings.workload.synthetic() ||
      !settings.workload.model->reads_images() || request.init_learning_rate ||
      request.piecewise_schedule || scales_layers(settings.workload.optimizer) ||
      has_batch_norm(build_run_network(settings.workload, 1))) {
    return;
  }
  settings.workload.learning_rate.model_divisor = kSyntheticDivisor;
  settings.notices.emplace_back(fmt::format(
      "synthetic images range from 0 to 255 and {} has no batch norm: its learning rate is "
      "divided by {:g} to keep the loss finite; --init_learning_rate overrides it",
      settings.workload.model->name, kSyntheticDivisor));
}

}  // namespace

OptimizerRule rule_of(const Flags& flags) {
  const auto rows = all_optimizers();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptimizerRow& candidate) {
    return candidate.name == flags.optimizer;
  });
  check(row != rows.end(), fmt::format("unknown optimizer {}", flags.optimizer));
  OptimizerRule rule = row->rule;
  if (auto* const momentum = std::get_if<MomentumRule>(&rule)) {
    *momentum = {.momentum = flags.momentum};
  } else if (auto* const rmsprop = std::get_if<RmspropRule>(&rule)) {
    *rmsprop = {.decay = flags.rmsprop_decay,
                .momentum = flags.rmsprop_momentum,
                .epsilon = flags.rmsprop_epsilon};
  } else if (auto* const adam = std::get_if<AdamRule>(&rule)) {
    *adam = {.beta1 = flags.adam_beta1, .beta2 = flags.adam_beta2, .epsilon = flags.adam_epsilon};
  } else if (auto* const lars = std::get_if<LarsRule>(&rule)) {
    *lars = {.trust_coefficient = flags.lars_trust_coefficient,
             .momentum = flags.momentum,
             .epsilon = flags.lars_epsilon};
  }
  return rule;
}

LearningRateOptions learning_rate_of(const Flags& flags, const Model& model,
                                     std::int64_t examples_per_epoch) {
  const LearningRateOptions own;
  return {.model = model.rate,
          .resnet_base = flags.resnet_base_lr.value_or(own.resnet_base),
          .examples_per_epoch = examples_per_epoch,
          .request = learning_rate_request(flags)};
}

void adapt_learning_rate(RunSettings& settings) {
  suit_synthetic_images(settings);
  note_the_rate_of_lars(settings);
}

}  // namespace bench

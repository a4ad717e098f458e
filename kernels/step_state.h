#pragma once

#include <cstdint>

namespace bench {

/// How the loss is scaled, so that small gradients survive in f16; the update divides by the scale.
struct LossScaleRule {
  double initial = 1;
  /// Whether the scale follows the gradients: it is halved after a step with one that is not
  /// finite, which is then not applied, and doubled after more than `increase_every` good steps in
  /// a row.
  bool automatic = false;
  std::int64_t increase_every = 1000;
};

/// What the host decides for a step.
struct StepOrders {
  double learning_rate = 0;
  /// Of the gradients, beside the loss scale.
  double gradient_scale = 1;
  /// The step's number, as dropout and drop-path see it.
  std::int32_t number = 0;
  /// Nobody's: what would be padding has a value, since it is copied.
  std::int32_t filler = 0;
};

/// All that changes from step to step but the batch, as it lies in a device's memory: what is
/// enqueued reads it there, so that a recording freezes none of it. The host writes the orders
/// before a step; the rest the device keeps itself, and nobody has to wait for it.
struct StepState {
  StepOrders orders = {};
  double loss_scale = 1;
  /// The same in f32.
  float narrow_loss_scale = 1;
  /// Whether the gradients of the step in hand are all finite, as far as anybody looked.
  std::int32_t finite = 1;
  /// Updates that were applied since the slots held their first values.
  std::int64_t updates = 0;
  /// Since the loss scale changed.
  std::int64_t good_steps = 0;
  /// Updates that were left out for a gradient that is not finite.
  std::int64_t skipped = 0;

  constexpr void set_loss_scale(double scale) {
    loss_scale = scale;
    narrow_loss_scale = static_cast<float>(scale);
  }
};

/// Moves the state on behind a step: counts the update, or that it was skipped, and adapts the loss
/// scale. What devices do at the end of an update.
constexpr void finish_step(StepState& state, const LossScaleRule& rule) {
  const bool finite = state.finite != 0;
  (finite ? state.updates : state.skipped) += 1;
  state.finite = 1;
  if (!rule.automatic) {
    return;
  }
  if (!finite) {
    state.set_loss_scale(state.loss_scale / 2);
    state.good_steps = 0;
  } else if (state.good_steps < rule.increase_every) {
    ++state.good_steps;
  } else {
    state.set_loss_scale(state.loss_scale * 2);
    state.good_steps = 0;
  }
}

}  // namespace bench

#pragma once

#include <cstdint>

namespace bench {

/// How the loss is scaled, so that small gradients survive in f16; the update divides by the scale.
struct LossScaleRule {
  double initial = 1;
  /// True if the scale follows the gradients. It is halved after a step with a non-finite gradient,
  /// which is then not applied. It is doubled after more than `increase_every` good steps in a row.
  bool automatic = false;
  std::int64_t increase_every = 1000;
};

/// The values that the host sets for a step.
struct StepParameters {
  double learning_rate = 0;
  /// The factor for the gradients, in addition to the loss scale.
  double gradient_scale = 1;
  /// The step's number for dropout and drop-path.
  std::int32_t number = 0;
  /// Unused. Padding has a defined value, since it is copied.
  std::int32_t filler = 0;
};

/// All state that changes from step to step, except the batch, in a device's memory. Enqueued work
/// reads it there, so that a recording does not freeze it. The host writes the parameters before a
/// step; the device maintains the rest without waiting.
struct StepState {
  StepParameters parameters = {};
  double loss_scale = 1;
  /// The same in f32.
  float narrow_loss_scale = 1;
  /// Nonzero if all gradients of the current step checked so far are finite.
  std::int32_t finite = 1;
  /// Updates that were applied since the slots were initialised.
  std::int64_t updates = 0;
  /// Steps since the loss scale changed.
  std::int64_t good_steps = 0;
  /// Updates that were skipped because of a non-finite gradient.
  std::int64_t skipped = 0;

  constexpr void set_loss_scale(double scale) {
    loss_scale = scale;
    narrow_loss_scale = static_cast<float>(scale);
  }
};

/// Advances the state after a step: counts the update, or that it was skipped, and adapts the loss
/// scale. Devices do this at the end of an update.
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

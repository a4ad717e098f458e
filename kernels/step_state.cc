#include "kernels/step_state.h"

namespace bench {

void finish_step(StepState& state, const LossScaleRule& rule) {
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

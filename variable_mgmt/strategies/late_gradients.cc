#include "variable_mgmt/strategies/late_gradients.h"

namespace bench {

LateGradients::LateGradients(Tower& tower)
    : tower_(tower),
      gradients_(tower.backend().allocate(tower.executor().gradients().bytes)),
      variables_(tower.backend().allocate(tower.executor().variables().bytes)),
      noted_(tower.backend().allocate(tower.executor().variables().bytes)) {
  forget();
}

void LateGradients::note_variables() {
  const TensorView variables = tower_.executor().variables();
  tower_.stream().copy(variables.data, noted_->data(), variables.bytes);
}

void LateGradients::renew() {
  const TensorView gradients = tower_.executor().gradients();
  tower_.stream().copy(gradients.data, gradients_->data(), gradients.bytes);
  tower_.stream().copy(noted_->data(), variables_->data(), tower_.executor().variables().bytes);
}

void LateGradients::forget() {
  tower_.stream().fill(gradients_->data(), std::byte{0}, tower_.executor().gradients().bytes);
  tower_.stream().fill(variables_->data(), std::byte{0}, tower_.executor().variables().bytes);
}

std::vector<StateRegion> LateGradients::state_regions(const RegionRange& range) const {
  const std::size_t begin = range.first * size_of(tower_.executor().trained_dtype());
  return {{.name = "previous_gradients", .range = range, .data = gradients_->data() + begin},
          {.name = "previous_variables", .range = range, .data = variables_->data() + begin}};
}

std::size_t late_gradients_bytes(std::size_t elements, const StrategySettings& settings) {
  constexpr std::size_t kRegions = 3;
  return kRegions * elements * size_of(settings.optimizer.dtype);
}

}  // namespace bench

#include "variable_mgmt/loss_scale.h"

namespace bench {

bool LossScale::take(bool gradients_are_finite) {
  if (!options_.automatic) {
    return true;
  }
  if (!gradients_are_finite) {
    value_ /= 2;
    good_steps_ = 0;
    return false;
  }
  if (good_steps_ < options_.increase_every) {
    ++good_steps_;
  } else {
    value_ *= 2;
    good_steps_ = 0;
  }
  return true;
}

}  // namespace bench

#include "models/ops/moving_average.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 2);
  require_same_shape(context, 0, 1);
  return {context.inputs[0]};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const MovingAverageAttributes& attributes) {
  return out << "decay " << attributes.decay << " factor " << attributes.factor;
}

const OpDef kMovingAverage{.name = "moving_average", .infer = infer, .computes_in_16_bits = false};

}  // namespace bench

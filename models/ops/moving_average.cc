#include "models/ops/moving_average.h"

#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  const std::size_t pairs = context.attributes.as<MovingAverageAttributes>().pairs.size();
  require_inputs(context, 2 * pairs);
  std::vector<TensorType> outputs;
  for (std::size_t i = 0; i < pairs; ++i) {
    require_same_shape(context, 2 * i, 2 * i + 1);
    outputs.push_back(context.inputs[2 * i]);
  }
  return outputs;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const MovingAverageAttributes& attributes) {
  const char* separator = "";
  for (const Averaging& pair : attributes.pairs) {
    out << separator << "decay " << pair.decay << " factor " << pair.factor;
    separator = ", ";
  }
  return out;
}

const OpDef kMovingAverage{.name = "moving_average", .infer = infer, .computes_in_16_bits = false};

}  // namespace bench

#include "models/ops/drop_path.h"

#include <algorithm>
#include <ostream>

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 4);
  require_rank(context, 1, 0);
  return {context.inputs[0]};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const auto outputs =
      context.graph.add_node(kDropPath, context.node.name + "/backward", context.node.attributes,
                             {context.output_gradients[0], context.node.inputs[1]});
  return {outputs[0], {}};
}

}  // namespace

/// Omits first_example, so that the graphs of all towers have the same text (tuning_key()).
std::ostream& operator<<(std::ostream& out, const DropPathAttributes& attributes) {
  out << "keep " << attributes.keep;
  if (attributes.ramp_steps > 0) {
    out << " after " << attributes.ramp_steps << " steps";
  }
  return out;
}

double keep_probability(const DropPathAttributes& attributes, std::int64_t step) {
  const double ramp =
      attributes.ramp_steps > 0
          ? std::min(1.0, static_cast<double>(step) / static_cast<double>(attributes.ramp_steps))
          : 1.0;
  return 1 - ramp * (1 - attributes.keep);
}

const OpDef kDropPath{
    .name = "drop_path", .infer = infer, .gradient = gradient, .keeps_sign = true};

}  // namespace bench

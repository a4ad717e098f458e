#include "models/ops/multibox_loss.h"

#include <array>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::array<const char*, 4> kInputs{"the offsets", "the scores", "the target offsets",
                                             "the classes"};
constexpr std::int64_t kCoordinates = 4;

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, kInputs.size());
  const TensorType& offsets = context.inputs[0];
  const TensorType& scores = context.inputs[1];
  for (std::size_t i = 0; i < kInputs.size(); ++i) {
    require_rank(context, i, i == 3 ? 2 : 3);
    for (const std::size_t axis : {0U, 1U}) {
      require_extent(context, {.subject = fmt::format("{} have", kInputs[i]),
                               .given = context.inputs[i].shape[axis],
                               .unit = axis == 0 ? "examples" : "anchors",
                               .other = "the offsets have",
                               .expected = offsets.shape[axis],
                               .axis = axis == 0 ? "N" : "A"});
    }
  }
  for (const std::size_t i : {0U, 2U}) {
    if (context.inputs[i].shape[2] != kCoordinates) {
      throw UsageError(fmt::format("{}: {} have {} coordinates, not {} ({})", context.op,
                                   kInputs[i], context.inputs[i].shape[2], kCoordinates,
                                   context.node));
    }
  }
  if (scores.shape[2] < 2) {
    throw UsageError(
        fmt::format("{}: a class and the background need at least 2 scores, not {} "
                    "({})",
                    context.op, scores.shape[2], context.node));
  }
  check(context.inputs[3].dtype == DType::s32,
        fmt::format("{}: classes must be s32", context.node));
  return {{.dtype = accumulation_type(scores.dtype), .shape = {}}, offsets, scores};
}

std::vector<ValueId> gradient(GradientContext& context) {
  check(!context.output_gradients[1].valid() && !context.output_gradients[2].valid(),
        "multibox_loss: its derivatives cannot receive a gradient");
  const Node node = context.node;
  const std::vector<ValueId> gradients =
      context.graph.add_node(kMultiboxLossBackward, node.name + "/backward", {},
                             {node.outputs[1], node.outputs[2], context.output_gradients[0]});
  return {gradients[0], gradients[1], {}, {}};
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 3);
  require_rank(context, 0, 3);
  require_rank(context, 1, 3);
  require_rank(context, 2, 0);
  return {context.inputs[0], context.inputs[1]};
}

}  // namespace

const OpDef kMultiboxLoss{
    .name = "multibox_loss", .infer = infer, .gradient = gradient, .computes_in_16_bits = false};
const OpDef kMultiboxLossBackward{
    .name = "multibox_loss_backward", .infer = infer_backward, .computes_in_16_bits = false};

}  // namespace bench

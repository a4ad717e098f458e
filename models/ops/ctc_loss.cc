#include "models/ops/ctc_loss.h"

#include <array>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::array<const char*, 4> kInputs{"the logits", "the labels", "the label counts",
                                             "the frames"};

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, kInputs.size());
  require_rank(context, 0, 3);
  require_rank(context, 1, 2);
  const TensorType& logits = context.inputs[0];
  for (std::size_t i = 1; i < kInputs.size(); ++i) {
    if (i > 1) {
      require_rank(context, i, 1);
    }
    check(context.inputs[i].dtype == DType::s32,
          fmt::format("{}: {} must be s32", context.node, kInputs[i]));
    require_extent(context, {.subject = fmt::format("{} have", kInputs[i]),
                             .given = context.inputs[i].shape[0],
                             .unit = "examples",
                             .other = "the logits have",
                             .expected = logits.shape[1],
                             .axis = "N"});
  }
  if (logits.shape[2] < 2) {
    throw UsageError(fmt::format("{}: a label and the blank need at least 2 classes, not {} ({})",
                                 context.op, logits.shape[2], context.node));
  }
  return {{.dtype = accumulation_type(logits.dtype), .shape = {}}, logits};
}

std::vector<ValueId> gradient(GradientContext& context) {
  check(!context.output_gradients[1].valid(), "ctc_loss: its derivative cannot receive a gradient");
  const Node node = context.node;
  const ValueId dlogits = context.graph.add_node(kCtcLossBackward, node.name + "/backward", {},
                                                 {node.outputs[1], context.output_gradients[0]})[0];
  return {dlogits, {}, {}, {}};
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 3);
  require_rank(context, 1, 0);
  return {context.inputs[0]};
}

}  // namespace

const OpDef kCtcLoss{
    .name = "ctc_loss", .infer = infer, .gradient = gradient, .computes_in_16_bits = false};
const OpDef kCtcLossBackward{
    .name = "ctc_loss_backward", .infer = infer_backward, .computes_in_16_bits = false};

}  // namespace bench

#include "kernels/onednn/epilogue.h"

#include "kernels/cpu/batch_norm.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/batch_norm.h"
#include "models/ops/concat_batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"

namespace bench::onednn {
namespace {

bool is_post_op(ActivationKind kind) { return derivative_from_output(kind); }

Support carries(const Node& node, ActivationKind kind, bool (*carried)(ActivationKind)) {
  if (carried(kind)) {
    return {};
  }
  return {.yes = false,
          .why_not = fmt::format("onednn's {} cannot fuse {}", node.op->name, name_of(kind))};
}

}  // namespace

Support supports_epilogue(const Node& node) {
  if (node.op == &kConv2d && node.attributes.as<Conv2dAttributes>().batch_norm) {
    return {.yes = false, .why_not = "onednn's conv2d cannot fuse a batch norm"};
  }
  if (has_prologue(node)) {
    return {
        .yes = false,
        .why_not = fmt::format("onednn's {} cannot fuse a preceding batch norm", node.op->name)};
  }
  if (node.op == &kBatchNormBackward && node.attributes.as<BatchNormAttributes>().mask_from_x) {
    return {.yes = false, .why_not = "onednn's batch_norm_backward takes its mask only from y"};
  }
  if (node.op == &kConv2d) {
    return carries(node, node.attributes.as<Conv2dAttributes>().epilogue.activation, is_post_op);
  }
  if (node.op == &kFullyConnected) {
    return carries(node, node.attributes.as<FullyConnectedAttributes>().epilogue.activation,
                   is_post_op);
  }
  if (node.op == &kBatchNorm || node.op == &kBatchNormInference || node.op == &kBatchNormBackward) {
    return carries(node, node.attributes.as<BatchNormAttributes>().epilogue.activation,
                   cpu::batch_norm_carries);
  }
  if (node.op == &kConcatBatchNorm) {
    return carries(node, node.attributes.as<ConcatBatchNormAttributes>().norm.epilogue.activation,
                   cpu::batch_norm_carries);
  }
  return {};
}

void append_activation(dnnl::post_ops& post_ops, ActivationKind kind) {
  using dnnl::algorithm;
  switch (kind) {
    case ActivationKind::none:
      return;
    case ActivationKind::relu:
      return post_ops.append_eltwise(algorithm::eltwise_relu, 0.0F, 0.0F);
    case ActivationKind::relu6:
      return post_ops.append_eltwise(algorithm::eltwise_clip, 0.0F, 6.0F);
    case ActivationKind::sigmoid:
      return post_ops.append_eltwise(algorithm::eltwise_logistic, 0.0F, 0.0F);
    case ActivationKind::tanh:
      return post_ops.append_eltwise(algorithm::eltwise_tanh, 0.0F, 0.0F);
    case ActivationKind::hard_sigmoid:
      // max(0, min(1, alpha * x + beta)).
      return post_ops.append_eltwise(algorithm::eltwise_hardsigmoid, 1.0F / 6.0F, 0.5F);
    case ActivationKind::silu:
    case ActivationKind::hard_swish:
      break;
  }
  throw InternalError(fmt::format("onednn: no post-op for {}", name_of(kind)));
}

}  // namespace bench::onednn

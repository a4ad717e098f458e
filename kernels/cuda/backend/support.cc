#include "kernels/cuda/backend/support.h"

#include "kernels/cuda/ops/layers.h"
#include "kernels/cuda/ops/refused.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// The reason why kernels here cannot read values of a type; empty if they can.
std::string why_not_type(const TensorType& type) {
  if (type.opaque || type.dtype == DType::f32 || is_half(type.dtype) || type.dtype == DType::s32) {
    return "";
  }
  return fmt::format("cuda computes in f32, bf16 and f16, not in {}", name_of(type.dtype));
}

}  // namespace

std::string why_not(const Context& context, const Graph& graph, const Node& node) {
  if (std::string why = why_not(*node.op); !why.empty()) {
    return why;
  }
  for (const ValueId input : node.inputs) {
    if (std::string why = why_not_type(graph.type(input)); !why.empty()) {
      return why;
    }
  }
  if (std::string why = why_no_rnn(context, graph, node); !why.empty()) {
    return why;
  }
  return why_no_layer(context, graph, node);
}

}  // namespace bench::cuda

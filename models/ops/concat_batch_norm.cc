#include "models/ops/concat_batch_norm.h"

#include <ostream>

#include "models/base/errors.h"
#include "models/ops/concat.h"

namespace bench {
namespace {

std::vector<TensorType> infer(const OpContext& context) {
  const auto& attributes = context.attributes.as<ConcatBatchNormAttributes>();
  check(!attributes.norm.epilogue.residual, "concat_batch_norm: it cannot have a residual");
  check(attributes.parts > 0, "concat_batch_norm: needs at least one part");
  require_inputs(context, static_cast<std::size_t>(concat_batch_norm_inputs(attributes).count));
  const auto infer_of = [&](const OpDef& op, const Attributes& of,
                            std::span<const TensorType> inputs) {
    return op.infer(
        {.op = context.op, .node = context.node, .attributes = of, .inputs = inputs})[0];
  };
  const auto parts = static_cast<std::size_t>(attributes.parts);
  for (const TensorType& part : context.inputs.first(parts)) {
    check(part.dtype == context.inputs[0].dtype, "concat_batch_norm: the parts differ in type");
  }
  std::vector<TensorType> inputs{infer_of(kConcat, {}, context.inputs.first(parts))};
  inputs.insert(inputs.end(), context.inputs.begin() + attributes.parts, context.inputs.end());
  const TensorType y = infer_of(kBatchNormInference, attributes.norm, inputs);
  return {attributes.quantize ? infer_of(kQuantize, *attributes.quantize, {&y, 1}) : y};
}

bool fused(const Node& node) {
  const auto& attributes = node.attributes.as<ConcatBatchNormAttributes>();
  return attributes.parts > 1 || attributes.quantize || !attributes.norm.epilogue.empty();
}

std::vector<ValueId> decompose(Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<ConcatBatchNormAttributes>();
  const auto end = node.inputs.begin() + attributes.parts;
  const std::vector<ValueId> parts(node.inputs.begin(), end);
  std::vector<ValueId> inputs{attributes.parts == 1
                                  ? parts[0]
                                  : graph.add_node(kConcat, node.name + "/concat", {}, parts)[0]};
  inputs.insert(inputs.end(), end, node.inputs.end());
  if (!attributes.quantize) {
    return graph.add_node(kBatchNormInference, node.name, attributes.norm, inputs);
  }
  return graph.add_node(
      kQuantize, node.name, *attributes.quantize,
      graph.add_node(kBatchNormInference, node.name + "/real", attributes.norm, inputs));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ConcatBatchNormAttributes& attributes) {
  out << attributes.norm << " of " << attributes.parts;
  return attributes.quantize ? out << " to " << *attributes.quantize : out;
}

BatchNormInputs concat_batch_norm_inputs(const ConcatBatchNormAttributes& attributes) {
  BatchNormInputs inputs = batch_norm_inference_inputs(attributes.norm);
  const int more = attributes.parts - 1;
  for (int* const position : {&inputs.gamma, &inputs.beta, &inputs.mean, &inputs.variance}) {
    *position += *position < 0 ? 0 : more;
  }
  inputs.count += more;
  return inputs;
}

constexpr EpilogueCarrier kCarrier{
    .get = [](const Attributes& attributes) -> const Epilogue& {
      return attributes.as<ConcatBatchNormAttributes>().norm.epilogue;
    },
    .with =
        [](const Attributes& attributes, const Epilogue& epilogue) {
          auto changed = attributes.as<ConcatBatchNormAttributes>();
          changed.norm.epilogue = epilogue;
          return Attributes(changed);
        },
    .bias = false,
    .residual = false};

const OpDef kConcatBatchNorm{.name = "concat_batch_norm",
                             .infer = infer,
                             .fused = fused,
                             .decompose = decompose,
                             .epilogue = &kCarrier};

}  // namespace bench

#include "models/ops/epilogue.h"

#include <ostream>

#include "models/base/errors.h"
#include "models/ops/add.h"
#include "models/ops/bias_add.h"

namespace bench {

std::ostream& operator<<(std::ostream& out, const Epilogue& epilogue) {
  out << (epilogue.bias ? "+bias" : "") << (epilogue.residual ? "+residual" : "");
  if (epilogue.activation != ActivationKind::none) {
    out << "+" << epilogue.activation;
  }
  return out;
}

void check_epilogue(const OpContext& context, const Epilogue& epilogue, std::size_t first,
                    const Shape& result) {
  if (epilogue.bias) {
    require_rank(context, first, 1);
    require_extent(context, {.subject = "the bias has",
                             .given = context.inputs[first].shape[0],
                             .unit = "channels",
                             .other = "the result has",
                             .expected = result[1],
                             .axis = "C"});
    ++first;
  }
  if (epilogue.residual) {
    const Shape& residual = context.inputs[first].shape;
    if (residual != result) {
      throw UsageError(fmt::format("{}: the residual is {}, but the result is {} ({})", context.op,
                                   to_string(residual), to_string(result), context.node));
    }
  }
}

ValueId decompose_epilogue(Graph& graph, const Epilogue& epilogue, const std::string& name,
                           ValueId result, std::span<const ValueId> inputs) {
  std::size_t next = 0;
  if (epilogue.bias) {
    result = graph.add_node(kBiasAdd, name + "/bias", {}, {result, inputs[next++]})[0];
  }
  if (epilogue.residual) {
    result = graph.add_node(kAdd, name + "/add", {}, {result, inputs[next++]})[0];
  }
  if (epilogue.activation != ActivationKind::none) {
    result = graph.add_node(kActivation, name + "/activation",
                            ActivationAttributes{epilogue.activation}, {result})[0];
  }
  return result;
}

}  // namespace bench

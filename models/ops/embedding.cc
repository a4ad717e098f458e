#include "models/ops/embedding.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kMostIdAxes = 3;

void require_ids(const OpContext& context) {
  const TensorType& ids = context.inputs[1];
  const std::size_t rank = ids.shape.rank();
  check(ids.dtype == DType::s32 && rank >= 1 && rank <= kMostIdAxes,
        fmt::format("{}: ids must be s32 with 1 to {} axes", context.node, kMostIdAxes));
}

std::vector<TensorType> infer(const OpContext& context) {
  require_inputs(context, 2);
  require_rank(context, 0, 2);
  require_ids(context);
  const TensorType& table = context.inputs[0];
  const auto ids = context.inputs[1].shape.extents();
  std::vector<std::int64_t> extents(ids.begin(), ids.end());
  extents.push_back(table.shape[1]);
  return {{.dtype = table.dtype, .shape = Shape(extents)}};
}

std::vector<ValueId> gradient(GradientContext& context) {
  const ValueId table = context.node.inputs[0];
  const ValueId ids = context.node.inputs[1];
  return {context.graph.add_node(kEmbeddingBackward, context.node.name + "/backward",
                                 EmbeddingBackwardAttributes{.rows = context.graph.shape(table)[0]},
                                 {context.output_gradients[0], ids})[0],
          {}};
}

/// Reads only the rows that it copies.
std::int64_t bytes(const Graph& graph, const Node& node) {
  return bytes_of(graph.type(node.inputs[1])) + 2 * bytes_of(graph.type(node.outputs[0]));
}

std::vector<TensorType> infer_backward(const OpContext& context) {
  require_inputs(context, 2);
  require_ids(context);
  const TensorType& dy = context.inputs[0];
  const Shape& ids = context.inputs[1].shape;
  require_rank(context, 0, ids.rank() + 1);
  const std::int64_t columns = dy.shape[ids.rank()];
  require_extent(context, {.subject = "the gradient has",
                           .given = dy.shape.elements(),
                           .unit = "elements",
                           .other = "the ids need",
                           .expected = ids.elements() * columns,
                           .axis = "N"});
  const std::int64_t rows = context.attributes.as<EmbeddingBackwardAttributes>().rows;
  return {{.dtype = accumulation_type(dy.dtype), .shape = {rows, columns}}};
}

/// A sparse gradient: reads dy, and writes rows twice: those of the last run and the new ones.
std::int64_t bytes_backward(const Graph& graph, const Node& node) {
  const TensorType& dtable = graph.type(node.outputs[0]);
  const std::int64_t read =
      bytes_of(graph.type(node.inputs[0])) + bytes_of(graph.type(node.inputs[1]));
  if (!node.attributes.as<EmbeddingBackwardAttributes>().sparse) {
    return read + bytes_of(dtable);
  }
  const std::int64_t rows = std::min(graph.shape(node.inputs[1]).elements(), dtable.shape[0]);
  const std::int64_t written = rows * dtable.shape[1];
  return read + 2 * written * static_cast<std::int64_t>(size_of(dtable.dtype));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const EmbeddingBackwardAttributes& attributes) {
  return out << attributes.rows << (attributes.sparse ? " rows, sparse" : " rows");
}

const OpDef kEmbedding{.name = "embedding",
                       .infer = infer,
                       .gradient = gradient,
                       .bytes = bytes,
                       .keeps_width = true,
                       .keeps_sign = true};
const OpDef kEmbeddingBackward{.name = "embedding_backward",
                               .infer = infer_backward,
                               .bytes = bytes_backward,
                               .keeps_width = true};

}  // namespace bench

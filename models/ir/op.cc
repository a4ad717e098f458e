#include "models/ir/op.h"

#include <array>

#include "models/base/errors.h"

namespace bench {

std::int64_t bytes_of(const TensorType& type) {
  return type.opaque ? 0 : type.shape.elements() * static_cast<std::int64_t>(size_of(type.dtype));
}

Work work_of(const Graph& graph, const Node& node) {
  Work work;
  if (node.op->multiply_adds != nullptr) {
    work.multiply_adds = node.op->multiply_adds(graph, node);
  }
  if (node.op->multiply_adds_of_padding != nullptr) {
    work.avoidable_multiply_adds = node.op->multiply_adds_of_padding(graph, node);
  }
  if (node.op->bytes != nullptr) {
    work.bytes = node.op->bytes(graph, node);
    return work;
  }
  for (const auto& ids : {node.inputs, node.outputs}) {
    for (const ValueId id : ids) {
      work.bytes += bytes_of(graph.type(id));
    }
  }
  return work;
}

std::int64_t multiply_adds(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes()) {
    sum += work_of(graph, node).multiply_adds;
  }
  return sum;
}

void require_extent(const OpContext& context, const ExtentMatch& match) {
  if (match.given != match.expected) {
    const std::string given = match.unit.empty() ? fmt::format("{}", match.given)
                                                 : fmt::format("{} {}", match.given, match.unit);
    throw UsageError(fmt::format("{}: {} {}, but {} {} (axis {} of {})", context.op, match.subject,
                                 given, match.other, match.expected, match.axis, context.node));
  }
}

void require_same_shape(const OpContext& context, std::size_t a, std::size_t b) {
  static constexpr std::array<std::string_view, Shape::kMaxRank> kAxes{"N", "C", "H", "W", "4"};
  require_rank(context, b, context.inputs[a].shape.rank());
  for (std::size_t axis = 0; axis < context.inputs[a].shape.rank(); ++axis) {
    const std::string subject = fmt::format("input {} has extent", a);
    const std::string other = fmt::format("input {} has", b);
    require_extent(context, {.subject = subject,
                             .given = context.inputs[a].shape[axis],
                             .unit = "",
                             .other = other,
                             .expected = context.inputs[b].shape[axis],
                             .axis = kAxes[axis]});
  }
}

void require_rank(const OpContext& context, std::size_t index, std::size_t rank) {
  check(index < context.inputs.size(),
        fmt::format("{}: input {} is missing ({})", context.op, index, context.node));
  const Shape& shape = context.inputs[index].shape;
  if (shape.rank() != rank) {
    throw UsageError(fmt::format("{}: input {} has {} axes ({}), but {} are expected ({})",
                                 context.op, index, shape.rank(), to_string(shape), rank,
                                 context.node));
  }
}

void require_channels(const OpContext& context, std::size_t index) {
  const Shape& shape = context.inputs[index].shape;
  if (shape.rank() != 2 && shape.rank() != 4) {
    throw UsageError(fmt::format("{}: input {} has {} axes ({}), but 2 or 4 are expected ({})",
                                 context.op, index, shape.rank(), to_string(shape), context.node));
  }
}

void require_inputs(const OpContext& context, std::size_t count) {
  check(context.inputs.size() == count,
        fmt::format("{}: there are {} inputs, but {} are expected ({})", context.op,
                    context.inputs.size(), count, context.node));
}

}  // namespace bench

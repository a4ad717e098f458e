#include "models/ops/number_range.h"

#include "models/ops/ctc_loss.h"
#include "models/ops/embedding.h"
#include "models/ops/multibox_loss.h"

namespace bench {

std::int32_t NumberRange::draw(RandomStream& random) const {
  if (one_of > 1 && random.below(one_of) > 0) {
    return 0;
  }
  return static_cast<std::int32_t>(least + random.below(bound - least));
}

std::optional<NumberRange> number_range(const Graph& graph, ValueId value) {
  const auto extent = [&](ValueId of, std::size_t axis) {
    return static_cast<std::uint32_t>(graph.shape(of)[axis]);
  };
  const auto only = [](std::uint32_t number) {
    return NumberRange{.least = number, .bound = number + 1};
  };
  for (const Node& node : graph.nodes()) {
    const auto reads_as = [&](const OpDef& op, std::size_t position) {
      return node.op == &op && node.inputs[position] == value;
    };
    if (reads_as(kEmbedding, 1)) {
      return NumberRange{.bound = extent(node.inputs[0], 0)};
    }
    if (reads_as(kEmbeddingBackward, 1)) {
      return NumberRange{.bound = extent(node.outputs[0], 0)};
    }
    if (reads_as(kCtcLoss, 1)) {
      return NumberRange{.bound = extent(node.inputs[0], 2) - 1};
    }
    if (reads_as(kCtcLoss, 2)) {
      return only(extent(node.inputs[1], 1));
    }
    if (reads_as(kCtcLoss, 3)) {
      return only(extent(node.inputs[0], 0));
    }
    if (reads_as(kMultiboxLoss, 3)) {
      constexpr std::uint32_t kOneOf = 8;
      return NumberRange{.least = 1, .bound = extent(node.inputs[1], 2), .one_of = kOneOf};
    }
  }
  return std::nullopt;
}

}  // namespace bench

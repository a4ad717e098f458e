#include "kernels/candidates.h"

#include <algorithm>
#include <array>

#include "models/base/errors.h"

namespace bench {

Layout nchw() { return Layout("nchw"); }
Layout nhwc() { return Layout("nhwc"); }

Layout row_major(std::size_t rank) {
  static constexpr std::array kTokens{"scalar", "x", "nc", "ncw", "nchw"};
  check(rank < kTokens.size(), fmt::format("rank {} has no layout", rank));
  return Layout(kTokens[rank]);
}

std::vector<Layout> plain_layouts(const Shape& shape, DataFormat format) {
  if (shape.rank() != 4) {
    return {row_major(shape.rank())};
  }
  switch (format) {
    case DataFormat::nchw:
      return {nchw()};
    case DataFormat::nhwc:
      return {nhwc()};
    case DataFormat::automatic:
      break;
  }
  return {nhwc(), nchw()};
}

std::vector<Layout> layouts_of(const Graph& graph, const std::vector<ValueId>& values,
                               const Layout& layout) {
  std::vector<Layout> layouts;
  for (const ValueId value : values) {
    const std::size_t rank = graph.shape(value).rank();
    layouts.push_back(rank == 4 ? layout : row_major(rank));
  }
  return layouts;
}

bool is_read(const Graph& graph, ValueId value) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return std::ranges::find(node.inputs, value) != node.inputs.end();
  });
}

std::vector<Candidate::Overwrite> overwrites_of_alike(const Graph& graph, const Node& node) {
  std::vector<Candidate::Overwrite> overwrites;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (graph.type(node.inputs[i]) == graph.type(node.outputs[0])) {
      overwrites.push_back({.output = 0, .input = i});
    }
  }
  return overwrites;
}

}  // namespace bench

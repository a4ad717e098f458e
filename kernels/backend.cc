#include "kernels/backend.h"

#include <ostream>

#include "models/ops/conv2d.h"

namespace bench {

void finish(Stream& stream) noexcept {
  try {
    stream.synchronize();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.token(); }

std::string_view name_of(DataFormat format) {
  switch (format) {
    case DataFormat::nchw:
      return "NCHW";
    case DataFormat::nhwc:
      return "NHWC";
    case DataFormat::automatic:
      return "auto";
  }
  return "?";
}

Support computes_in(const Backend& backend, DType dtype) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = dtype, .shape = {1, 16, 1, 1}});
  const ValueId w = graph.add_input("w", {.dtype = dtype, .shape = {16, 16, 1, 1}});
  graph.add_node(kConv2d, "conv", Conv2dAttributes{}, {x, w});
  return backend.supports(graph, graph.nodes()[0]);
}

}  // namespace bench

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend.h"
#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench {

/// A backend that runs nothing: every node can have its tensors in layout "a" or "b", at costs that
/// a test sets by op.
class TwoLayoutBackend : public Backend {
 public:
  std::map<const OpDef*, std::pair<double, double>> seconds = {};
  double reorder = 1;
  /// Applies to all candidates.
  bool idle_in_place = false;

  [[nodiscard]] std::string_view name() const override { return "two layouts"; }
  [[nodiscard]] Support supports(const Graph&, const Node&) const override { return {}; }
  std::vector<Candidate> candidates(const Graph& graph, const Node& node, DataFormat) override {
    const auto found = seconds.find(node.op);
    const auto [a, b] = found == seconds.end() ? std::pair(1.0, 1.0) : found->second;
    std::vector<Candidate> both{candidate(graph, node, "a", a), candidate(graph, node, "b", b)};
    for (Candidate& one : both) {
      one.idle_in_place = idle_in_place;
    }
    return both;
  }
  [[nodiscard]] Layout canonical_layout(const TensorType&) const override { return Layout("a"); }
  [[nodiscard]] std::vector<Layout> input_layouts(const TensorType&, DataFormat) const override {
    return {Layout("a"), Layout("b")};
  }
  std::size_t bytes(const TensorType& type, const Layout&) override {
    return static_cast<std::size_t>(type.shape.elements()) * size_of(type.dtype);
  }
  std::unique_ptr<Kernel> make_reorder(const Placed&, const Placed&) override {
    throw InternalError("nothing runs here");
  }
  double reorder_seconds(const TensorType&, const Layout&, const Layout&) override {
    return reorder;
  }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings&,
                                            std::vector<OptimizerSegment>) override {
    throw InternalError("nothing runs here");
  }
  std::optional<Ceiling> measure_ceiling(DType) override { return std::nullopt; }
  std::unique_ptr<Stream> make_stream() override { throw InternalError("nothing runs here"); }
  std::unique_ptr<Event> make_event() override { throw InternalError("nothing runs here"); }
  std::unique_ptr<DeviceMemory> allocate(std::size_t) override {
    throw InternalError("nothing runs here");
  }
  [[nodiscard]] bool shares_host_memory() const override { return true; }

 private:
  static Candidate candidate(const Graph& graph, const Node& node, const std::string& layout,
                             double cost) {
    const auto layouts = [&](const std::vector<ValueId>& ids) {
      std::vector<Layout> result;
      for (const ValueId id : ids) {
        result.emplace_back(graph.type(id).opaque ? "opaque " + layout : layout);
      }
      return result;
    };
    Candidate result;
    result.implementation = layout;
    result.inputs = layouts(node.inputs);
    result.outputs = layouts(node.outputs);
    result.opaque_bytes.assign(node.outputs.size(), 8);
    result.seconds = cost;
    result.may_overwrite = {{.output = 0, .input = 0}};
    return result;
  }
};

}  // namespace bench

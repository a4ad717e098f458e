#include "kernels/onednn/widened.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/runtime/memory_plan.h"
#include "models/base/errors.h"

namespace bench::onednn {
namespace {

/// A tensor of the node in f16 and its f32 copy.
struct Widened {
  std::size_t position = 0;
  Placed narrow;
  Placed wide;
  /// Where the copy is in the workspace, in bytes.
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

struct WidenedTensors {
  std::vector<Widened> inputs;
  std::vector<Widened> outputs;
  /// All inputs and outputs of the node, in any type.
  std::size_t input_count = 0;
  std::size_t output_count = 0;
};

class WidenedKernel final : public Kernel {
 public:
  WidenedKernel(Backend& backend, const WidenedTensors& tensors, std::unique_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)),
        wide_inputs_(tensors.input_count),
        wide_outputs_(tensors.output_count) {
    for (const Widened& input : tensors.inputs) {
      inputs_.push_back(
          {.tensor = input, .reorder = backend.make_reorder(input.narrow, input.wide)});
    }
    for (const Widened& output : tensors.outputs) {
      outputs_.push_back(
          {.tensor = output, .reorder = backend.make_reorder(output.wide, output.narrow)});
    }
  }

  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    std::ranges::copy(inputs, wide_inputs_.begin());
    std::ranges::copy(outputs, wide_outputs_.begin());
    for (const Copy& copy : inputs_) {
      const TensorView narrow = inputs[copy.tensor.position];
      const TensorView wide = wide_inputs_[copy.tensor.position] = copy.in(workspace);
      copy.reorder->launch(stream, {&narrow, 1}, {&wide, 1}, nullptr);
    }
    for (const Copy& copy : outputs_) {
      wide_outputs_[copy.tensor.position] = copy.in(workspace);
    }
    kernel_->launch(stream, wide_inputs_, wide_outputs_, workspace);
    for (const Copy& copy : outputs_) {
      const TensorView wide = copy.in(workspace);
      const TensorView narrow = outputs[copy.tensor.position];
      copy.reorder->launch(stream, {&wide, 1}, {&narrow, 1}, nullptr);
    }
  }

 private:
  struct Copy {
    Widened tensor;
    std::unique_ptr<Kernel> reorder;

    [[nodiscard]] TensorView in(void* workspace) const {
      return {.data = static_cast<std::byte*>(workspace) + tensor.offset, .bytes = tensor.bytes};
    }
  };
  std::unique_ptr<Kernel> kernel_;
  std::vector<Copy> inputs_;
  std::vector<Copy> outputs_;
  /// Members, because a step must not allocate.
  std::vector<TensorView> wide_inputs_;
  std::vector<TensorView> wide_outputs_;
};

/// The node in f32, alone in a graph.
Graph widened_graph(const Graph& graph, const Node& node) {
  Graph wide;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    TensorType type = graph.type(node.inputs[i]);
    if (type.dtype == DType::f16) {
      type.dtype = DType::f32;
    }
    inputs.push_back(wide.add_input(fmt::format("{}", i), type));
  }
  wide.add_node(*node.op, node.name, node.attributes, inputs);
  return wide;
}

}  // namespace

std::vector<Candidate> widened_candidates(Context& context, Backend& backend, Maker* maker,
                                          const Graph& graph, const Node& node, DataFormat format) {
  const Graph wide_graph = widened_graph(graph, node);
  const Node& wide_node = wide_graph.nodes()[0];
  std::vector<Candidate> candidates = maker(context, wide_graph, wide_node, format);
  for (Candidate& candidate : candidates) {
    WidenedTensors tensors;
    tensors.input_count = node.inputs.size();
    tensors.output_count = node.outputs.size();
    candidate.workspace_bytes = align_up(candidate.workspace_bytes);
    // Replaces the f32 tensors of the candidate by the node's in f16.
    const auto widen = [&](const std::vector<ValueId>& values,
                           const std::vector<ValueId>& wide_values, std::vector<Layout>& layouts,
                           std::vector<Widened>& widened) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const TensorType& narrow = graph.type(values[i]);
        const TensorType& wide = wide_graph.type(wide_values[i]);
        if (narrow == wide) {
          continue;
        }
        const std::vector<Layout> known = activation_layouts(context, narrow, format);
        const Layout layout = std::ranges::find(known, layouts[i]) != known.end()
                                  ? layouts[i]
                                  : row_major(narrow.shape.rank());
        const std::size_t bytes = backend.bytes(wide, layouts[i]);
        widened.push_back({.position = i,
                           .narrow = {.type = narrow, .layout = layout},
                           .wide = {.type = wide, .layout = layouts[i]},
                           .offset = candidate.workspace_bytes,
                           .bytes = bytes});
        layouts[i] = layout;
        candidate.workspace_bytes += align_up(bytes);
        candidate.intermediate_bytes += 2 * static_cast<std::int64_t>(bytes);
        candidate.seconds += backend.reorder_seconds(narrow, layout, layout);
        candidate.launches += 1;
      }
    };
    widen(node.inputs, wide_node.inputs, candidate.inputs, tensors.inputs);
    widen(node.outputs, wide_node.outputs, candidate.outputs, tensors.outputs);
    candidate.implementation = "in_f32:" + candidate.implementation;
    candidate.may_overwrite.clear();
    candidate.make = [&backend, tensors, make = std::move(candidate.make)] {
      return std::make_unique<WidenedKernel>(backend, tensors, make());
    };
  }
  return candidates;
}

}  // namespace bench::onednn

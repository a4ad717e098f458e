#include "kernels/cpu/embedding.h"

#include "kernels/onednn/vector_kernel.h"
#include "models/ops/embedding.h"
#include "models/ops/swap_axes.h"

namespace bench::onednn {
namespace {

Layout row_major_of(const Graph& graph, ValueId value) {
  return row_major(graph.shape(value).rank());
}

void backward(cpu::ThreadTeam& team, cpu::EmbeddingBackward args, const LaunchTensors& tensors,
              cpu::WrittenRows* written) {
  args.dy = tensors.in(0);
  args.ids = tensors.inputs[1].as<const std::int32_t>();
  args.order = static_cast<std::int32_t*>(tensors.workspace);
  args.dtable = tensors.floats_out(0);
  args.written = written;
  cpu::embedding_backward(team, args);
}

/// Writes a sparse gradient.
class SparseBackward final : public Kernel {
 public:
  SparseBackward(cpu::ThreadTeam& team, const cpu::EmbeddingBackward& problem)
      : team_(team), problem_(problem) {}

  void launch(Stream& /*stream*/, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    backward(team_, problem_, {.inputs = inputs, .outputs = outputs, .workspace = workspace},
             &written_);
  }
  [[nodiscard]] std::span<const std::int32_t> written_rows() const override { return written_.ids; }

 private:
  cpu::ThreadTeam& team_;
  cpu::EmbeddingBackward problem_;
  cpu::WrittenRows written_;
};

}  // namespace

std::vector<Candidate> embedding(Context& context, const Graph& graph, const Node& node,
                                 DataFormat /*format*/) {
  const TensorType& table = graph.type(node.inputs[0]);
  const Embedding problem{.rows = table.shape[0],
                          .columns = table.shape[1],
                          .count = graph.shape(node.inputs[1]).elements(),
                          .dtype = table.dtype};
  return {vector_candidate(context, graph, node,
                           {row_major(2), row_major_of(graph, node.inputs[1])},
                           {row_major_of(graph, node.outputs[0])}, [problem](const Launch& launch) {
                             Embedding args = problem;
                             args.table = launch.in(0);
                             args.ids = launch.inputs[1].as<const std::int32_t>();
                             args.y = launch.out(0);
                             cpu::embedding(launch.team, args);
                           })};
}

std::vector<Candidate> embedding_backward(Context& context, const Graph& graph, const Node& node,
                                          DataFormat /*format*/) {
  const Shape& table = graph.shape(node.outputs[0]);
  const cpu::EmbeddingBackward problem{.rows = table[0],
                                       .columns = table[1],
                                       .count = graph.shape(node.inputs[1]).elements(),
                                       .dtype = graph.type(node.inputs[0]).dtype};
  Candidate candidate =
      vector_candidate(context, graph, node,
                       {row_major_of(graph, node.inputs[0]), row_major_of(graph, node.inputs[1])},
                       {row_major(2)}, [problem](const Launch& launch) {
                         backward(launch.team, problem, launch, /*written=*/nullptr);
                       });
  if (node.attributes.as<EmbeddingBackwardAttributes>().sparse) {
    candidate.implementation = "sparse:highway";
    candidate.make = [&team = context.team, problem] {
      return std::make_unique<SparseBackward>(team, problem);
    };
  }
  candidate.workspace_bytes = static_cast<std::size_t>(problem.count) * sizeof(std::int32_t);
  return {candidate};
}

std::vector<Candidate> swap_axes(Context& context, const Graph& graph, const Node& node,
                                 DataFormat /*format*/) {
  const TensorType& x = graph.type(node.inputs[0]);
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  const cpu::SwapAxes problem =
      node.attributes.as<SwapAxesAttributes>().first == 0
          ? cpu::SwapAxes{.a = x.shape[0], .b = x.shape[1], .row_bytes = x.shape[2] * size}
          : cpu::SwapAxes{
                .matrices = x.shape[0], .a = x.shape[1], .b = x.shape[2], .row_bytes = size};
  return {vector_candidate(context, graph, node, {row_major(3)}, {row_major(3)},
                           [problem](const Launch& launch) {
                             cpu::SwapAxes args = problem;
                             args.x = launch.in(0);
                             args.y = launch.out(0);
                             cpu::swap_axes(launch.team, args);
                           })};
}

}  // namespace bench::onednn

#include "kernels/onednn/vector_kernel.h"

#include "models/ir/op.h"

namespace bench::onednn {
namespace {

class VectorKernel final : public Kernel {
 public:
  VectorKernel(cpu::ThreadTeam& team, std::function<void(const Launch&)> body)
      : team_(team), body_(std::move(body)) {}
  void launch(Stream& /*stream*/, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    body_({{.inputs = inputs, .outputs = outputs, .workspace = workspace}, team_});
  }

 private:
  cpu::ThreadTeam& team_;
  std::function<void(const Launch&)> body_;
};

}  // namespace

std::function<std::unique_ptr<Kernel>()> make_vector_kernel(
    Context& context, std::function<void(const Launch&)> body) {
  return [&team = context.team, body = std::move(body)] {
    return std::make_unique<VectorKernel>(team, body);
  };
}

cpu::ChannelView channel_view(const Context& context, const Shape& shape, const Layout& layout) {
  using Kind = cpu::ChannelView::Kind;
  cpu::ChannelView view{.batch = shape[0], .channels = shape[1]};
  if (shape.rank() == 2) {
    return view;
  }
  view.spatial = shape[2] * shape[3];
  view.block = context.block;
  view.kind = layout == nchw() ? Kind::nchw : layout == nhwc() ? Kind::nhwc : Kind::blocked;
  return view;
}

Candidate vector_candidate(Context& context, const Graph& graph, const Node& node,
                           std::vector<Layout> inputs, std::vector<Layout> outputs,
                           std::function<void(const Launch&)> body) {
  Candidate candidate;
  candidate.implementation = "vector:highway";
  candidate.inputs = std::move(inputs);
  candidate.outputs = std::move(outputs);
  candidate.seconds = memory_seconds(context, work_of(graph, node).bytes);
  candidate.make = make_vector_kernel(context, std::move(body));
  return candidate;
}

}  // namespace bench::onednn

#include "kernels/cuda/device/context.h"

#include "kernels/cuda/device/stream.h"
#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench::cuda {
namespace {

class GpuKernel final : public Kernel {
 public:
  explicit GpuKernel(std::function<void(const Launch&)> body) : body_(std::move(body)) {}
  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    body_({{.inputs = inputs, .outputs = outputs, .workspace = workspace}, handle_of(stream)});
  }

 private:
  std::function<void(const Launch&)> body_;
};

}  // namespace

View view_of(const Shape& shape, const Layout& layout) {
  View view{.order = layout == nchw() ? Order::nchw : Order::nhwc,
            .batch = shape[0],
            .channels = shape[1]};
  if (shape.rank() == 4) {
    view.spatial = shape[2] * shape[3];
  }
  return view;
}

cudaStream_t handle_of(Stream& stream) { return static_cast<GpuStream&>(stream).handle(); }

std::function<std::unique_ptr<Kernel>()> make_gpu_kernel(std::function<void(const Launch&)> body) {
  return [body = std::move(body)] { return std::make_unique<GpuKernel>(body); };
}

Candidate gpu_candidate(const Context& context, const Graph& graph, const Node& node,
                        std::vector<Layout> inputs, std::vector<Layout> outputs,
                        std::function<void(const Launch&)> body) {
  Candidate candidate;
  candidate.implementation = "cuda";
  candidate.inputs = std::move(inputs);
  candidate.outputs = std::move(outputs);
  candidate.seconds = memory_seconds(context, static_cast<double>(work_of(graph, node).bytes));
  candidate.make = make_gpu_kernel(std::move(body));
  return candidate;
}

double memory_seconds(const Context& context, double bytes) {
  return kLaunchSeconds + bytes / planning_speeds(context.device).bytes_per_second;
}

}  // namespace bench::cuda

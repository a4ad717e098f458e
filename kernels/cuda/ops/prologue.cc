#include "kernels/cuda/ops/prologue.h"

#include <fmt/ostream.h>

#include "kernels/cuda/gpu/batch_norm.h"
#include "kernels/cuda/gpu/channel_statistics.h"
#include "models/base/errors.h"
#include "models/ops/conv2d.h"

namespace bench::cuda {

PrologueRunner::PrologueRunner(const Graph& graph, const Node& node,
                               const BatchNormAttributes& prologue, int x, const Layout& layout,
                               bool in_plan)
    : at_(prologue_inputs(prologue, node.inputs.size())),
      activation_(prologue.epilogue.activation),
      epsilon_(prologue.epsilon),
      view_(view_of(graph.shape(node.inputs[static_cast<std::size_t>(x)]), layout)),
      dtype_(graph.type(node.inputs[static_cast<std::size_t>(x)]).dtype),
      x_(x),
      in_plan_(in_plan) {}

std::size_t PrologueRunner::vector_bytes() const {
  return aligned(static_cast<std::size_t>(view_.channels) * size_of(dtype_));
}

std::size_t PrologueRunner::workspace_bytes() const {
  return in_plan_ ? 2 * vector_bytes()
                  : aligned(static_cast<std::size_t>(view_.elements()) * size_of(dtype_));
}

std::int64_t PrologueRunner::intermediate_bytes() const {
  return in_plan_ ? 0 : 2 * view_.elements() * static_cast<std::int64_t>(size_of(dtype_));
}

void PrologueRunner::run(const Launch& launch, void* workspace, const void*& x,
                         ConvolutionMemory& memory) const {
  if (!in_plan_) {
    batch_norm_inference(launch.stream, {.view = view_,
                                         .dtype = dtype_,
                                         .x = launch.in(x_),
                                         .gamma = launch.floats_in(at_.gamma),
                                         .beta = launch.floats_in(at_.beta),
                                         .mean = launch.floats_in(at_.mean),
                                         .variance = launch.floats_in(at_.variance),
                                         .activation = activation_,
                                         .epsilon = epsilon_,
                                         .y = workspace});
    x = workspace;
    return;
  }
  void* const shift = static_cast<std::byte*>(workspace) + vector_bytes();
  scale_and_shift(launch.stream, {.channels = view_.channels,
                                  .gamma = launch.floats_in(at_.gamma),
                                  .beta = launch.floats_in(at_.beta),
                                  .mean = launch.floats_in(at_.mean),
                                  .variance = launch.floats_in(at_.variance),
                                  .epsilon = epsilon_,
                                  .dtype = dtype_,
                                  .scale = workspace,
                                  .shift = shift});
  memory.scale = workspace;
  memory.shift = shift;
}

std::string why_no_prologue(const Context& context, const BatchNormAttributes& prologue,
                            const ConvolutionProblem& problem) {
  if (prologue.epilogue != Epilogue{.activation = ActivationKind::relu}) {
    return "cuda's convolutions fuse a preceding batch norm only with ReLU alone after it";
  }
  if (!context.convolutions.choices(problem).empty()) {
    return "";
  }
  return fmt::format("{} has no convolution in {} with {} that normalizes its input",
                     context.device.name, name_of(problem.dtype), fmt::streamed(problem.window));
}

}  // namespace bench::cuda

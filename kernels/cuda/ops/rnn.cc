#include "models/ops/rnn.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/gpu/copy_runs.h"
#include "kernels/cuda/ops/layers.h"
#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench::cuda {
namespace {

/// `first` is the position of x.
RnnProblem problem_of(const Graph& graph, const Node& node, std::size_t first) {
  const TensorType& x = graph.type(node.inputs[first]);
  const Shape& weights = graph.shape(node.inputs[first + 1]);
  return {.cell = node.attributes.as<RnnAttributes>().cell,
          .dtype = x.dtype,
          .steps = x.shape[0],
          .batch = x.shape[1],
          .inputs = x.shape[2],
          .units = weights[2],
          .directions = weights[0]};
}

/// Copies the weights of the op into a library's space, and their gradients back.
class WeightCopies {
 public:
  WeightCopies(const RnnProblem& problem, const Node& node, const RnnSpaces& spaces)
      : dtype_(problem.dtype), hidden_bias_(node.attributes.as<RnnAttributes>().hidden_bias) {
    const double forget_bias = node.attributes.as<RnnAttributes>().forget_bias;
    const std::int64_t gates = gates_of(problem.cell);
    for (std::int64_t block = 0; block < problem.directions * gates; ++block) {
      for (const bool hidden : {false, true}) {
        const auto& offsets =
            spaces.offsets[static_cast<std::size_t>(2 * block) + (hidden ? 1U : 0U)];
        const std::int64_t elements = problem.units * (hidden ? problem.units : problem.inputs);
        const bool forget = !hidden && problem.cell == RnnCell::lstm && block % gates == 1;
        parts_.push_back({.tensor = hidden ? 1 : 0,
                          .begin = block * elements,
                          .count = elements,
                          .offset = offsets.matrix});
        parts_.push_back({.tensor = hidden ? 3 : 2,
                          .begin = block * problem.units,
                          .count = problem.units,
                          .offset = offsets.bias,
                          .added = forget ? static_cast<float>(forget_bias) : 0});
      }
    }
    check(parts_.size() <= kMostRuns, "a recurrent layer has too many gates");
    std::size_t used = 0;
    for (const Part& part : parts_) {
      used += static_cast<std::size_t>(part.count) * size_of(dtype_);
    }
    cleared_bytes_ = used < spaces.weights ? spaces.weights : 0;
  }

  /// The number of launches of gather().
  [[nodiscard]] int gathering_launches() const { return cleared_bytes_ > 0 ? 2 : 1; }

  /// w_x is input `first`.
  void gather(const Launch& launch, int first, void* space) const {
    // cuDNN may read the gaps between its matrices.
    if (cleared_bytes_ > 0) {
      check_cuda(cudaMemsetAsync(space, 0, cleared_bytes_, launch.stream), "cudaMemsetAsync");
    }
    std::array<CopiedRun, kMostRuns> runs;
    std::size_t count = 0;
    for (const Part& part : parts_) {
      const bool bias = part.tensor >= 2;
      CopiedRun& run = runs[count++];
      run = {.to = static_cast<std::byte*>(space) + part.offset,
             .count = part.count,
             .added = part.added,
             .from_f32 = bias};
      if (part.tensor < 3 || hidden_bias_) {
        run.from = static_cast<const std::byte*>(launch.in(first + part.tensor)) +
                   static_cast<std::size_t>(part.begin) * size_of(bias ? DType::f32 : dtype_);
      }
    }
    copy_runs(launch.stream, dtype_, std::span(runs).first(count));
  }

  /// dw_x is output 1. All gradients are f32.
  void scatter(const Launch& launch, const void* space) const {
    std::array<CopiedRun, kMostRuns> runs;
    std::size_t count = 0;
    for (const Part& part : parts_) {
      if (part.tensor < 3 || hidden_bias_) {
        runs[count++] = {.from = static_cast<const std::byte*>(space) + part.offset,
                         .to = launch.floats_out(1 + part.tensor) + part.begin,
                         .count = part.count,
                         .to_f32 = true};
      }
    }
    copy_runs(launch.stream, dtype_, std::span(runs).first(count));
  }

 private:
  struct Part {
    /// Index in (w_x, w_h, b_x, b_h).
    int tensor = 0;
    /// In elements of the tensor.
    std::int64_t begin = 0;
    std::int64_t count = 0;
    /// In bytes of the space.
    std::size_t offset = 0;
    float added = 0;
  };
  DType dtype_;
  bool hidden_bias_;
  std::vector<Part> parts_;
  /// The size of the space if it has gaps between the parts; else 0.
  std::size_t cleared_bytes_ = 0;
};

/// Names the implementation, because only its backward can read the reserve.
Layout reserve_layout(const RnnMethod& method) {
  return Layout("rnn reserve of " + method.implementation);
}

/// The estimated time: that of the layer's work, but at least two launches per step.
double rnn_seconds(const Context& context, const Graph& graph, const Node& node,
                   const RnnProblem& problem, const RnnMethod& method) {
  const double layer =
      layer_seconds(context, work_of(graph, node),
                    {.dtype = problem.dtype,
                     .tensor_cores = is_half(problem.dtype),
                     .workspace_bytes = method.spaces.weights + method.spaces.reserve});
  return std::max(layer, 2 * static_cast<double>(problem.steps) * kLaunchSeconds);
}

/// The candidate without its memory and kernel.
Candidate candidate_of(const Context& context, const Graph& graph, const Node& node,
                       const RnnProblem& problem, const RnnMethod& method) {
  Candidate candidate;
  candidate.implementation = method.implementation;
  candidate.inputs = layouts_of(graph, node.inputs, nchw());
  candidate.outputs = layouts_of(graph, node.outputs, nchw());
  candidate.seconds = rnn_seconds(context, graph, node, problem, method);
  return candidate;
}

}  // namespace

std::string why_no_rnn(const Context& context, const Graph& graph, const Node& node) {
  if (node.op != &kRnn && node.op != &kRnnBackward) {
    return "";
  }
  const auto& attributes = node.attributes.as<RnnAttributes>();
  if (attributes.lengths) {
    return "cuDNN must know sequence lengths in advance, but they change with every batch";
  }
  if (attributes.cell == RnnCell::gru_reset_before) {
    return "cuDNN has no GRU that applies the reset gate before the product";
  }
  const std::size_t x = node.op == &kRnn ? 0 : 1;
  if (graph.type(node.inputs[x]).dtype == DType::bf16 &&
      context.device.capability < kFirstWithBfloat16) {
    return fmt::format(
        "{} has recurrent layers in f32 and f16; bf16 needs compute capability 8.0 or newer",
        context.device.name);
  }
  if (context.device.pci_bus_id.empty()) {
    return "cuDNN reports the memory of recurrent layers only if the GPU is present";
  }
  return "";
}

std::vector<Candidate> rnn(Context& context, const Graph& graph, const Node& node,
                           DataFormat /*format*/) {
  RnnProblem problem = problem_of(graph, node, 0);
  problem.training = is_read(graph, node.outputs[1]);
  const RnnMethod method = context.rnn_layers.method(problem);
  Candidate candidate = candidate_of(context, graph, node, problem, method);
  candidate.outputs[1] = reserve_layout(method);
  candidate.opaque_bytes = {0, method.spaces.reserve};
  candidate.workspace_bytes = aligned(method.spaces.weights) + method.spaces.workspace;
  const WeightCopies copies(problem, node, method.spaces);
  // The library's call.
  candidate.launches = copies.gathering_launches() + 1;
  candidate.make = [method, copies] {
    const std::shared_ptr<RnnPlan> plan = method.make();
    return make_gpu_kernel([copies, plan, spaces = method.spaces](const Launch& launch) {
      auto* const weights = static_cast<std::byte*>(launch.workspace);
      copies.gather(launch, 1, weights);
      plan->forward(launch.stream, {.x = launch.in(0),
                                    .weights = weights,
                                    .y = launch.out(0),
                                    .workspace = weights + aligned(spaces.weights),
                                    .reserve = spaces.reserve > 0 ? launch.out(1) : nullptr});
    })();
  };
  return {candidate};
}

std::vector<Candidate> rnn_backward(Context& context, const Graph& graph, const Node& node,
                                    DataFormat /*format*/) {
  RnnProblem problem = problem_of(graph, node, 1);
  problem.training = true;
  const RnnMethod method = context.rnn_layers.method(problem);
  Candidate candidate = candidate_of(context, graph, node, problem, method);
  candidate.inputs.back() = reserve_layout(method);
  candidate.workspace_bytes =
      2 * aligned(method.spaces.weights) + aligned(method.spaces.reserve) + method.spaces.workspace;
  const WeightCopies copies(problem, node, method.spaces);
  // A fill, the copies of the reserve and of the gradients, and two library calls.
  candidate.launches = copies.gathering_launches() + 5;
  const int y = node.attributes.as<RnnAttributes>().hidden_bias ? 6 : 5;
  candidate.make = [y, method, copies] {
    const std::shared_ptr<RnnPlan> plan = method.make();
    return make_gpu_kernel([y, copies, plan, spaces = method.spaces](const Launch& launch) {
      auto* const weights = static_cast<std::byte*>(launch.workspace);
      std::byte* const dweights = weights + aligned(spaces.weights);
      std::byte* const reserve = dweights + aligned(spaces.weights);
      copies.gather(launch, 2, weights);
      check_cuda(cudaMemsetAsync(dweights, 0, spaces.weights, launch.stream), "cudaMemsetAsync");
      check_cuda(cudaMemcpyAsync(reserve, launch.in(y + 1), spaces.reserve,
                                 cudaMemcpyDeviceToDevice, launch.stream),
                 "cudaMemcpyAsync");
      plan->backward(launch.stream, {.x = launch.in(1),
                                     .weights = weights,
                                     .y = launch.in(y),
                                     .dy = launch.in(0),
                                     .dx = launch.out(0),
                                     .dweights = dweights,
                                     .workspace = reserve + aligned(spaces.reserve),
                                     .reserve = reserve});
      copies.scatter(launch, dweights);
    })();
  };
  return {candidate};
}

}  // namespace bench::cuda

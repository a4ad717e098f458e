#pragma once

#include <string>

#include "kernels/cuda/backend/convolutions.h"
#include "kernels/cuda/device/context.h"
#include "models/ops/batch_norm.h"

namespace bench::cuda {

/// Applies the prologue of a convolution, or of its filter gradient, to x: a batch norm with given
/// statistics and ReLU. Either the plan does this while it reads x, and gets each channel's two
/// factors in the type of x. Or a kernel of ours first writes what the plan then reads.
///
/// In the plan, the factors are rounded to f16. So its result differs from our kernel's by up to
/// 2^-11 of the shift and of the result without beta. The backward pass takes ReLU's mask from
/// factors in f32, with the bits of our kernel. An element near 0 may therefore have another sign
/// there. cuDNN does not document how an engine rounds between x and the tensor cores.
///
/// Both ways recompute the normalised x for each reader. So the tuner, which chooses between them,
/// cannot do what --conv_prologue=false does: store it once.
class PrologueRunner {
 public:
  /// For a node whose input number `x` is x. With `in_plan`, the plan applies the prologue.
  PrologueRunner(const Graph& graph, const Node& node, const BatchNormAttributes& prologue, int x,
                 const Layout& layout, bool in_plan);

  /// Scratch at the start of run()'s workspace.
  [[nodiscard]] std::size_t workspace_bytes() const;
  /// Bytes read and written in addition to x, which the node's work counts.
  [[nodiscard]] std::int64_t intermediate_bytes() const;
  [[nodiscard]] bool in_plan() const { return in_plan_; }

  /// Enqueues the work before the plan, and sets the plan's input that replaces x.
  void run(const Launch& launch, void* workspace, const void*& x, ConvolutionMemory& memory) const;

 private:
  [[nodiscard]] std::size_t vector_bytes() const;

  BatchNormInputs at_;
  ActivationKind activation_;
  double epsilon_;
  View view_;
  DType dtype_;
  int x_;
  bool in_plan_;
};

/// The reason why a problem's prologue cannot be in one graph with its convolution; empty if it
/// can.
std::string why_no_prologue(const Context& context, const BatchNormAttributes& prologue,
                            const ConvolutionProblem& problem);

}  // namespace bench::cuda
